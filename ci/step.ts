import type { Command, SecretName } from "./command.ts";
import type { ImageName } from "./images.ts";
import type { ServiceName } from "./services.ts";

export const runnerNames = ["host", "dagger"] as const;
/** The host runner (`pnpm test`) or the Dagger pipeline (`pnpm run pipeline`). */
export type RunnerName = (typeof runnerNames)[number];

/** One row of the table in `steps.ts`. Both runners use every column. */
export interface Step {
  /** What `--only` takes; `fuzz` selects `fuzz:schema`, too. */
  readonly name: string;
  /** What a passing step has shown, in one line. */
  readonly purpose: string;
  /** Run in the root of the repository, with `node_modules/.bin` first on the path. */
  readonly command: Command;
  /** Steps that must have passed before this one starts. */
  readonly needs: readonly string[];
  /** Files and folders that can change the outcome, beside `sharedInputs`. A container sees nothing else. */
  readonly inputs: readonly string[];
  /** Files that the step writes and a later one reads. Before it runs they are deleted, and their folders made. */
  readonly outputs: readonly string[];
  /** The container that it runs in. On a host its programs have to be there, else the step is skipped. */
  readonly image: ImageName;
  /** Images that the step reads as archives, at `archiveOf`. */
  readonly archives: readonly ImageName[];
  /** What runs beside the step, and is found by the variables that the service names. */
  readonly services: readonly ServiceName[];
  readonly secrets: readonly SecretName[];
  readonly environment: Readonly<Record<string, string>>;
  /** Processors that it keeps busy. A suite with deadlines has all that two workers use, so that nothing runs beside it. */
  readonly cores: number;
  readonly timeLimitSeconds: number;
  /** How its outcome is counted: as one check, or by the tests in vitest's report. */
  readonly counts: "one" | "vitest";
  /** What does not fit the time of `.ci/run` runs in the Dagger pipeline only. */
  readonly runners: readonly RunnerName[];
}

/** Exit code of a step that could not run here, as automake has it. The step has printed the reason as its last line. */
export const didNotRun = 77;

/** @returns where a step finds an image as an archive of Docker's form */
export const archiveOf = (image: ImageName): string => `.parley/ci/${image}.tar`;

/** Changes to these files can change the outcome of every step. */
export const sharedInputs = [
  ".ci",
  "ci",
  "launch.mjs",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "tsconfig.json",
  "vitest.config.ts",
] as const;

/** What decides which packages are installed. */
export const lockFiles = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "packages/*/package.json",
  "repo/package.json",
] as const;

/** @returns whether the file is one of the inputs, or lies in one of them */
export const isInputOf = (step: Step, file: string): boolean =>
  [...sharedInputs, ...step.inputs].some((input) => input === "." || file === input || file.startsWith(`${input}/`));
