import type { Command, SecretName } from "./command.ts";
import type { ImageName } from "./images.ts";
import type { ServiceName } from "./services.ts";

export const runnerNames = ["host", "dagger"] as const;
/** The host runner (`pnpm test`) or the Dagger pipeline (`pnpm run pipeline`). */
export type RunnerName = (typeof runnerNames)[number];

/** One row of the table in `steps.ts`. Both runners use every column. */
export interface Step {
  /** The name for `--only`; `fuzz` also selects `fuzz:schema`. */
  readonly name: string;
  /** The property that a passing step has shown, in one line. */
  readonly purpose: string;
  /** The command, which runs in the root of the repository with `node_modules/.bin` first in `PATH`. */
  readonly command: Command;
  /** Steps that must have passed before this one starts. */
  readonly needs: readonly string[];
  /** Files and folders that can change the outcome, in addition to `sharedInputs`. A container has no other files. */
  readonly inputs: readonly string[];
  /** Files that the step writes and a later step reads. Before the step runs they are deleted and their folders are created. */
  readonly outputs: readonly string[];
  /** The container that it runs in. A host must have the programs of this image, or the step is skipped. */
  readonly image: ImageName;
  /** Images that the step reads as archives, at `archiveOf`. */
  readonly archives: readonly ImageName[];
  /** Services that run next to the step. The step finds them by the variables that each service declares. */
  readonly services: readonly ServiceName[];
  readonly secrets: readonly SecretName[];
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Processors that it keeps busy. A suite with deadlines and much work claims all that two workers use, so that no other step
   * runs at that time.
   */
  readonly cores: number;
  readonly timeLimitSeconds: number;
  /** `one`: the step counts as one check. `vitest`: the tests in vitest's report are counted. */
  readonly counts: "one" | "vitest";
  /** Runners of the step. Steps that are too slow for `.ci/run` run only in the Dagger pipeline. */
  readonly runners: readonly RunnerName[];
}

/** Exit code of a step that could not run here, as in automake. The last line of its output is the reason. */
export const didNotRun = 77;

/** @returns where a step finds an image as an archive of Docker's form */
export const archiveOf = (image: ImageName): string => `.parley/ci/${image}.tar`;

/** Changes to these files can change the outcome of every step. */
export const sharedInputs = [
  ".ci",
  "ci",
  "launch.mjs",
  "package.json",
  "packages/common",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "tsconfig.json",
  "vitest.config.ts",
] as const;

/** Files that decide which packages are installed. */
export const lockFiles = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "packages/*/package.json",
  "repository-tests/package.json",
] as const;

/** @returns whether the file is an input of the step, or lies in one */
export const isInputOf = (step: Step, file: string): boolean =>
  [...sharedInputs, ...step.inputs].some((input) => input === "." || file === input || file.startsWith(`${input}/`));
