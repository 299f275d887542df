import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { exitCodeOf } from "@parley/common/exit-code";
import { ReportCommand, wholeNumber } from "@parley/common/flag-values";
import { didNotRun } from "../ci/step.ts";
import { runCampaign } from "./campaign.ts";
import { MissingProgramError, prepareSchemathesis } from "./python.ts";

// `pnpm fuzz` is the gate: a fixed seed and a few minutes. `pnpm fuzz --cases 100000` is a campaign: a random seed, resumable.

const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
process.on("SIGTERM", () => stop.abort());

try {
  const { cases, workers, seed } = readFlags();
  process.exitCode = cases === undefined ? await runGate() : await campaign({ cases, workers, seed });
} catch (error) {
  const isNotRun = error instanceof MissingProgramError;
  const message = error instanceof Error ? error.message : String(error);
  process.stdout.write(`fuzz: ${isNotRun ? "did not run: " : ""}${message}\n`);
  process.exitCode = isNotRun ? didNotRun : 1;
}

/** Runs the steps `fuzz:…` of the pipeline on this machine. @returns the exit code */
function runGate(): Promise<number> {
  const runner = fileURLToPath(new URL("../ci/run.ts", import.meta.url));
  return exitCodeOf(spawn(process.execPath, [runner, "--only", "fuzz"], { stdio: "inherit" }));
}

async function campaign(options: Parameters<typeof runCampaign>[1]): Promise<number> {
  const faults = await runCampaign(await prepareSchemathesis(), options, stop.signal);
  for (const fault of faults) process.stdout.write(`FAIL ${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

interface Flags {
  readonly cases?: number;
  readonly workers: number;
  readonly seed?: number;
}

function readFlags(): Flags {
  return new ReportCommand("fuzz")
    .description(
      "Without flags: the gate, which asks servers of its own what the contract allows and what it does not, with a fixed seed, for a few " +
        "minutes. With --cases: a campaign, with a seed of its own. Ctrl-C ends it, and the next one without a seed goes on where it was.",
    )
    .option("--cases <count>", "a campaign with this number of requests", wholeNumber)
    .option("--workers <count>", "of a campaign, how many ask at once", wholeNumber, 1)
    .option("--seed <number>", "of a campaign, its seed", wholeNumber)
    .parse()
    .opts<Flags>();
}
