import { parseArgs } from "node:util";
import { didNotRun } from "../ci/steps.ts";
import { runCampaign } from "./campaign.ts";
import { runGate } from "./gate.ts";
import { NoPython, prepareSchemathesis } from "./python.ts";

// `pnpm fuzz` is the gate: a fixed seed, a few minutes. `pnpm fuzz --cases 100000` is a campaign: a free seed, resumable.

const { values } = parseArgs({
  options: { cases: { type: "string" }, workers: { type: "string" }, seed: { type: "string" } },
});
const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
process.on("SIGTERM", () => stop.abort());

try {
  const program = await prepareSchemathesis();
  const faults = values.cases === undefined ? await runGate(program) : await campaign(program, Number(values.cases));
  for (const fault of faults) process.stdout.write(`FAIL ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof NoPython)) throw error;
  process.stdout.write(`fuzz: did not run: ${error.message}\n`);
  process.exitCode = didNotRun;
}

function campaign(program: string, cases: number): Promise<string[]> {
  const workers = Number(values.workers ?? 1);
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  if (![cases, workers, seed ?? 1].every((one) => Number.isSafeInteger(one) && one > 0)) {
    throw new TypeError("--cases, --workers and --seed take whole numbers above 0");
  }
  return runCampaign(program, { cases, workers, seed }, stop.signal);
}
