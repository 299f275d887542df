import { readFileSync, writeFileSync } from "node:fs";
import { levels } from "../src/contract/contract.ts";
import type { Level } from "../src/contract/contract.ts";
import type { ConformanceProfile } from "../src/profile.ts";
import { judge } from "./judge.ts";
import type { Subject } from "./judge.ts";
import { startSubject } from "./subject.ts";
import { unseenFaults } from "./unseen/index.ts";
import type { UnseenFault } from "./unseen/fault.ts";

/**
 * Runs the suite against every unseen fault and writes which clauses fail, by the kind of run. A larger run is tried only if
 * the smaller ones missed the fault, because it sends everything that they send:
 * `node mutants/measure-unseen.ts OUTPUT.json [JOBS] [TITLE…]`.
 */

const without = (...names: readonly Level[]): readonly Level[] => levels.filter((level) => !names.includes(level));
const greedy: ConformanceProfile = { capabilities: ["greedy", "guided"] };

interface Kind {
  readonly levels: readonly Level[];
  readonly isExhaustive: boolean;
  readonly isScripted?: true;
  /** Replaces the profile of the reference server, and leaves only its ordinary key. */
  readonly profile?: ConformanceProfile;
}

const kinds = {
  defaults: { levels: ["core", "stream"], isExhaustive: false, profile: {} },
  "all levels": { levels: without("ops"), isExhaustive: false },
  exhaustive: { levels: without("ops"), isExhaustive: true },
  "with a scripted engine": { levels: without("ops"), isExhaustive: true, isScripted: true },
} as const satisfies Record<string, Kind>;

function profileOf(server: Subject, { profile, isScripted }: Kind): Subject {
  const key = server.secrets.get("key") ?? "";
  if (profile) return { ...server, profile, secrets: new Map([["key", key]]) };
  return isScripted === true ? server : { ...server, profile: { ...server.profile, ...greedy } };
}

type Found = Readonly<Record<string, readonly string[]>>;

async function measure({ mutant }: UnseenFault): Promise<Found> {
  const found: Record<string, readonly string[]> = {};
  for (const [name, kind] of Object.entries<Kind>(kinds)) {
    await using server = await startSubject(mutant);
    const judging = { server: profileOf(server, kind), levels: kind.levels, isExhaustive: kind.isExhaustive };
    const { verdicts } = await judge({ ...judging, deadlineMs: 8000, budgetMs: 120_000 });
    found[name] = verdicts.filter(({ state }) => state === "FAIL" || state === "WARN").map(({ clause }) => clause.id);
    if (found[name].length > 0) break;
  }
  return found;
}

const [output = "unseen.json", jobs = "3", ...titles] = process.argv.slice(2);
const chosen = unseenFaults.filter(({ title }) => titles.length === 0 || titles.includes(title));
const queue = [...chosen];
const results: Record<string, Found> =
  titles.length === 0 ? {} : (JSON.parse(readFileSync(output, "utf8")) as Record<string, Found>); // what this program wrote

async function work(): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const found = await measure(next);
    results[next.title] = found;
    const [kind, ids] = Object.entries(found).find(([, one]) => one.length > 0) ?? ["MISSED", []];
    process.stdout.write(`${kind.padEnd(10)}  ${next.title}: ${ids.join(" ")}\n`);
    writeFileSync(output, `${JSON.stringify(results, undefined, 1)}\n`);
  }
}

await Promise.all(Array.from({ length: Number(jobs) }, work));
const killedBy = (title: string): number => Object.values(results[title] ?? {}).findIndex((ids) => ids.length > 0);
for (const [place, kind] of Object.keys(kinds).entries()) {
  const killed = chosen.filter(({ title }) => killedBy(title) >= 0 && killedBy(title) <= place).length;
  process.stdout.write(`${kind}: ${killed} of ${chosen.length}\n`);
}
process.exit(0);
