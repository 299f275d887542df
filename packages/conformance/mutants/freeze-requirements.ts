import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clauses, contractVersion } from "../src/contract/contract.ts";
import type { Clause } from "../src/contract/contract.ts";
import type { FrozenClause, RequirementSet } from "../src/contract/requirements.ts";
import { checksOf } from "../src/run/plan.ts";
import type { Kill } from "./kill.ts";
import { readMatrix } from "./matrix.ts";

const root = join(import.meta.dirname, "..");
const sets = join(root, "requirements");
const changelog = join(sets, "CHANGELOG.md");

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** A digest of the checks of a clause in a set: a check that does something else has another one. */
export const checksDigest = (clause: Clause, set: string): string =>
  digestOf(JSON.stringify(checksOf(clause, false, set).map(({ how, uses }) => [how, uses])));

/** The seeded bugs that break a clause. */
export const killsOf = ({ id }: Clause, kills: readonly Kill[]): readonly string[] =>
  kills.flatMap(({ bug, killedBy }) => (killedBy.includes(id) ? [bug] : []));

/** The requirements of today as a set of this name. */
export function setOf(set: string): RequirementSet {
  const { kills } = readMatrix();
  const frozen = clauses.map((clause): FrozenClause => ({
    id: clause.id,
    keyword: clause.keyword,
    level: clause.level,
    model: clause.model,
    openai: clause.openai !== undefined,
    checks: checksDigest(clause, set),
    kills: killsOf(clause, kills),
  }));
  return { set, contract: contractVersion, clauses: frozen };
}

/** The set as a file: a line for each clause. */
export const toText = ({ set, contract, clauses: frozen }: RequirementSet): string =>
  `{"set":"${set}","contract":"${contract}","clauses":[\n${frozen.map((clause) => JSON.stringify(clause)).join(",\n")}\n]}\n`;

/** Writes a new set and its digest in the changelog. Only a set that no release has had yet may be written again. */
function freeze(set: string): void {
  const text = toText(setOf(set));
  writeFileSync(join(sets, `${set}.json`), text);
  const before = readFileSync(changelog, "utf8");
  const line = `Digest of ${set}: ${digestOf(text)}`;
  const known = new RegExp(`^Digest of ${set}: [0-9a-f]+$`, "m");
  if (!known.test(before))
    throw new Error(`Write the chapter of ${set} in CHANGELOG.md first, with the line "${line}".`);
  writeFileSync(changelog, before.replace(known, line));
}

if (import.meta.main) freeze(process.argv[2] ?? "");
