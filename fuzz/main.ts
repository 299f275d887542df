import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { didNotRun } from "../ci/step.ts";
import { runCampaign } from "./campaign.ts";
import { NotThere, prepareSchemathesis } from "./python.ts";

// `pnpm fuzz` is the gate: a fixed seed, a few minutes. `pnpm fuzz --cases 100000` is a campaign: a free seed, resumable.

const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
process.on("SIGTERM", () => stop.abort());

try {
  const { cases, workers = 1, seed } = readArguments();
  process.exitCode = cases === undefined ? await runGate() : await campaign({ cases, workers, seed });
} catch (error) {
  const isNotRun = error instanceof NotThere;
  const message = error instanceof Error ? error.message : String(error);
  process.stdout.write(`fuzz: ${isNotRun ? "did not run: " : ""}${message}\n`);
  process.exitCode = isNotRun ? didNotRun : 1;
}

/** The steps `fuzz:…` of the pipeline, on this machine. @returns the exit code */
async function runGate(): Promise<number> {
  const runner = fileURLToPath(new URL("../ci/run.ts", import.meta.url));
  const [code] = (await once(spawn(process.execPath, [runner, "--only", "fuzz"], { stdio: "inherit" }), "exit")) as [
    number | null,
  ];
  return code ?? 1;
}

async function campaign(options: Parameters<typeof runCampaign>[1]): Promise<number> {
  const faults = await runCampaign(await prepareSchemathesis(), options, stop.signal);
  for (const fault of faults) process.stdout.write(`FAIL ${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

type Name = "cases" | "workers" | "seed";

function readArguments(): Partial<Record<Name, number>> {
  const { values } = parseArgs({
    options: { cases: { type: "string" }, workers: { type: "string" }, seed: { type: "string" } },
  });
  const numbers = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
  const wrong = numbers.find(([, value]) => !Number.isSafeInteger(value) || value < 1);
  if (wrong) throw new Error(`--${wrong[0]} takes a whole number above 0`);
  return Object.fromEntries(numbers);
}
