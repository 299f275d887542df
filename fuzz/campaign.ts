import { randomInt } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findShallows, readFloors } from "./depth.ts";
import { workFolder } from "./work-folder.ts";
import { addRecord, newTally } from "./record.ts";
import type { Failure, Tally } from "./record.ts";
import { runSchemathesis } from "./run.ts";
import type { FuzzTarget } from "./run.ts";
import type { Source } from "../ci/schemathesis.ts";
import { summarize } from "./summary.ts";
import { startTarget } from "./target.ts";

export interface CampaignOptions {
  readonly cases: number;
  readonly workers: number;
  /** Undefined: continues the interrupted campaign, or starts one with a random seed. */
  readonly seed: number | undefined;
}

/** Progress of a campaign: a folder per seed and a record per round, so that finished rounds count after an interruption. */
interface Campaign {
  readonly seed: number;
  readonly folder: string;
}

const casesOfRound: Readonly<Record<"grammar" | "schema", number>> = { grammar: 2000, schema: 250 };
const current = join(workFolder, "campaign.json");

/**
 * Runs or continues a campaign. @returns its faults: failures of the server, and depths that were not reached. If `stop` ends
 * it early, they are those of the rounds so far.
 */
export async function runCampaign(program: string, options: CampaignOptions, stop: AbortSignal): Promise<string[]> {
  const campaign = await openCampaign(options);
  await using target = await startTarget("scripted");
  const startedMs = Date.now();
  let tally = await readTally(campaign);
  const before = tally.answers;
  if (before > 0) say(`going on with seed ${campaign.seed} after ${before} answers`);
  let next = lastRoundOf(campaign);
  const work = async (): Promise<void> => {
    while (tally.answers < options.cases && !stop.aborted && target.exitCode() === null) {
      await runRound(program, target, campaign, (next += 1), stop);
      tally = await readTally(campaign);
      const perMinute = ((tally.answers - before) / (Date.now() - startedMs)) * 60_000;
      say(
        `${tally.answers} of ${options.cases} answers, ${Math.round(perMinute)} a minute, ${tally.failures.length} failures`,
      );
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  say(`seed ${campaign.seed}, ${roundsOf(campaign).length} rounds, scripted engine\n${summarize(tally)}`);
  if (stop.aborted) return [`stopped after ${tally.answers} answers; the same command goes on`];
  writeFileSync(current, "{}");
  return findFaults(tally, options.cases, target.exitCode());
}

function findFaults(tally: Tally, cases: number, serverExitCode: number | null): string[] {
  const { scripted } = readFloors();
  return [
    ...(serverExitCode === null ? [] : [`the server ended with ${serverExitCode}`]),
    ...(tally.failures.length === 0 ? [] : [`${tally.failures.length} failures, see above`]),
    ...findShallows(tally, { ...scripted, answers: Math.min(scripted.answers, cases) }),
  ];
}

async function openCampaign({ seed: asked }: CampaignOptions): Promise<Campaign> {
  const known = existsSync(current) ? (JSON.parse(readFileSync(current, "utf8")) as { seed?: number }) : {}; // our own
  const seed = asked ?? known.seed ?? randomInt(2 ** 31);
  const folder = join(workFolder, `campaign-${seed}`);
  await mkdir(folder, { recursive: true });
  writeFileSync(current, JSON.stringify({ seed }));
  return { seed, folder };
}

const roundsOf = ({ folder }: Campaign): string[] => readdirSync(folder).filter((name) => name.endsWith(".ndjson"));

const lastRoundOf = (campaign: Campaign): number =>
  Math.max(0, ...roundsOf(campaign).map((name) => Number(/\d+/.exec(name)?.[0])));

async function readTally(campaign: Campaign): Promise<Tally> {
  const tally = newTally();
  for (const name of roundsOf(campaign)) await addRecord(tally, join(campaign.folder, name));
  return tally;
}

/** Every fifth round uses Schemathesis's own requests. */
async function runRound(
  program: string,
  target: FuzzTarget,
  { seed, folder }: Campaign,
  round: number,
  stop: AbortSignal,
): Promise<void> {
  const source: Source = round % 5 === 1 ? "schema" : "grammar";
  const file = join(folder, `round-${String(round).padStart(4, "0")}`);
  const files = { record: `${file}.ndjson`, log: `${file}.log` };
  const exitCode = await runSchemathesis(
    program,
    target,
    { source, cases: casesOfRound[source], seed: seed + round, ...files },
    stop,
  );
  const tally = newTally();
  await addRecord(tally, files.record);
  // A round that ended with an error must not count as a round without findings.
  if (exitCode !== 0 && tally.failures.length === 0 && !stop.aborted)
    appendFileSync(files.record, brokenRound(files.log));
}

function brokenRound(log: string): string {
  const failure = { check: "schemathesis", message: `the round ended with an error, see ${log}` };
  const request = { method: "", path: "", headers: {}, body: "" };
  return `${JSON.stringify({ operation: "", status: 0, failure, request } satisfies Failure)}\n`;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
