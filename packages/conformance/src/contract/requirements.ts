import { existsSync, readFileSync, readdirSync } from "node:fs";
import type { Clause } from "./contract.ts";

/** A clause as a frozen set of requirements has it. */
export interface FrozenClause {
  readonly id: string;
  readonly keyword: Clause["keyword"];
  readonly level: Clause["level"];
  readonly model: Clause["model"];
  /** True if ordinary OpenAI-compatible servers are judged by it. */
  readonly openai: boolean;
  /** A digest of its checks in this set: what they do, and which requests they use. */
  readonly checks: string;
  /** The seeded bugs of the kill matrix that break it. */
  readonly kills: readonly string[];
}

/** A set of requirements that never changes once it is frozen. */
export interface RequirementSet {
  readonly set: string;
  readonly contract: string;
  readonly clauses: readonly FrozenClause[];
}

const folder = new URL("../../requirements/", import.meta.url);

/** The names of the frozen sets, such as 2026-12, the oldest first. */
export const setNames = (): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .flatMap((name) => (/^\d{4}-\d{2}\.json$/.test(name) ? [name.slice(0, -".json".length)] : []))
        .toSorted()
    : [];

export const readSet = (name: string): RequirementSet =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as RequirementSet; // `mutants/freeze-requirements.ts` wrote it
