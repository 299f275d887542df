import { parseArgs } from "node:util";
import { didNotRun } from "../ci/step.ts";
import { runCampaign } from "./campaign.ts";
import { runGate } from "./gate.ts";
import { prepareContainer } from "./container.ts";
import { NotThere, prepareSchemathesis } from "./python.ts";

// `pnpm fuzz` is the gate: a fixed seed, a few minutes. `pnpm fuzz --cases 100000` is a campaign: a free seed, resumable.
// `--container` takes Schemathesis from an image, as a pipeline does.

const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
process.on("SIGTERM", () => stop.abort());

try {
  const { cases, workers = 1, seed, isContained } = readArguments();
  const program = isContained ? await prepareContainer() : await prepareSchemathesis();
  const faults =
    cases === undefined
      ? await runGate(program, stop.signal)
      : await runCampaign(program, { cases, workers, seed }, stop.signal);
  for (const fault of faults) process.stdout.write(`FAIL ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  const isNotRun = error instanceof NotThere;
  const message = error instanceof Error ? error.message : String(error);
  process.stdout.write(`fuzz: ${isNotRun ? "did not run: " : ""}${message}\n`);
  process.exitCode = isNotRun ? didNotRun : 1;
}

type Name = "cases" | "workers" | "seed";

function readArguments(): Partial<Record<Name, number>> & { readonly isContained: boolean } {
  const { values } = parseArgs({
    options: {
      cases: { type: "string" },
      workers: { type: "string" },
      seed: { type: "string" },
      container: { type: "boolean", default: false },
    },
  });
  const { container, ...others } = values;
  const numbers = Object.entries(others).map(([name, value]) => [name, Number(value)] as const);
  const wrong = numbers.find(([, value]) => !Number.isSafeInteger(value) || value < 1);
  if (wrong) throw new Error(`--${wrong[0]} takes a whole number above 0`);
  return { ...Object.fromEntries(numbers), isContained: container };
}
