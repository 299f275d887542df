import { spawn } from "node:child_process";
import { exitCodeOf } from "@parley/common/exit-code";
import { commandFor, reportFailure, runSelected } from "./command-line.ts";
import type { Flags, Runner } from "./command-line.ts";
import { runInCopy } from "./host/run-in-copy.ts";
import { runOnHost } from "./host/run-step.ts";

// `pnpm test` and `.ci/run`: the steps of the table on this machine.

interface HostFlags extends Flags {
  readonly inCopies?: boolean;
}

const host = ({ inCopies }: HostFlags): Runner => ({
  name: "host",
  verb: "pnpm test",
  description: "Runs the steps of the pipeline on this machine, or the test files that are named.",
  open: async (use, stop) =>
    void (await use((step) => (inCopies === true ? runInCopy(step, stop) : runOnHost(step, stop)))),
});

const command = commandFor(host({}))
  .option("--in-copies", "each step in a copy that holds its inputs and nothing else, as its container does")
  .argument("[vitest...]", "test files, and what else vitest takes; then no step runs")
  .passThroughOptions()
  .action(async (forVitest: readonly string[], flags: HostFlags) => {
    process.exitCode = forVitest.length > 0 ? await runVitest(forVitest) : await runSelected(host(flags), flags);
  });

/** Runs vitest directly on the terminal, for work on single test files. */
const runVitest = (args: readonly string[]): Promise<number> =>
  exitCodeOf(spawn("vitest", ["run", ...args], { stdio: "inherit" }));

try {
  await command.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error);
}
