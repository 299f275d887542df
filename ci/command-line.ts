import { availableParallelism } from "node:os";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { Finished } from "./outcome.ts";
import { showProgress } from "./progress.ts";
import { schedule } from "./schedule.ts";
import type { RunStep } from "./schedule.ts";
import { makeSecrets } from "./secrets.ts";
import { stepsChanged, stepsNamed, stepsOf, SelectionError } from "./select.ts";
import type { Selection } from "./select.ts";
import { isGreen, summarize } from "./summary.ts";
import type { RunnerName, Step } from "./step.ts";
import { steps } from "./steps.ts";

export interface Runner {
  readonly name: RunnerName;
  /** The verb that the user types. */
  readonly verb: string;
  readonly description: string;
  /** Sets up the runner of steps, calls `use` with it, and cleans up. @returns whether all steps went well */
  readonly open: (use: (run: RunStep) => Promise<boolean>, stop: AbortSignal) => Promise<void>;
}

export interface Flags {
  readonly only?: readonly string[];
  readonly since?: string;
  readonly list?: boolean;
}

export const commandFor = ({ verb, description }: Runner): Command =>
  new Command(verb)
    .description(description)
    .option("--only <steps>", "these steps, separated by commas; what they need is taken as done", readNames)
    .option("--since <commit>", "the steps whose inputs differ from the commit, such as main")
    .option("--list", "say what the steps are, and run none")
    .showHelpAfterError("(--help lists what there is)")
    .exitOverride();

function readNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  try {
    stepsNamed(names, steps);
  } catch (error) {
    throw error instanceof SelectionError ? new InvalidArgumentError(error.message) : error;
  }
  return names;
}

/** Runs the steps that the flags select, and prints the result as the last line. @returns the exit code */
export async function runSelected(runner: Runner, flags: Flags): Promise<number> {
  const { chosen, left } = select(runner.name, flags);
  if (flags.list === true) return list(chosen);
  makeSecrets();
  const stop = stopOnSignals();
  const startedMs = Date.now();
  const out = process.stdout;
  let finished: ReadonlyMap<Step, Finished> = new Map();
  await runner.open(async (run) => {
    using progress = showProgress(out, widthOf(chosen));
    finished = await schedule(chosen, availableParallelism(), run, progress);
    return isGreen(finished);
  }, stop);
  out.write(summarize(finished, left, (Date.now() - startedMs) / 1000));
  if (stop.aborted) return 130;
  // If no input has changed, no step can have broken.
  return chosen.length === 0 || isGreen(finished) ? 0 : 1;
}

function select(runner: RunnerName, { only, since }: Flags): Selection {
  const all = stepsOf(runner, steps);
  // A user who names steps need not be told that the others do not run.
  const named = only === undefined ? all : { chosen: stepsNamed(only, all.chosen), left: [] };
  return since === undefined ? named : stepsChanged(since, named);
}

function list(chosen: readonly Step[]): number {
  const width = widthOf(chosen);
  process.stdout.write(chosen.map(({ name, purpose }) => `${name.padEnd(width)}  ${purpose}\n`).join(""));
  return 0;
}

const widthOf = (chosen: readonly Step[]): number => Math.max(0, ...chosen.map(({ name }) => name.length));

function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => controller.abort(new Error("the run was stopped")));
  return controller.signal;
}

/** One sentence that says what to do, never a stack. @returns the exit code */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // Commander has printed its message already
  if (!(error instanceof SelectionError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  return 2;
}
