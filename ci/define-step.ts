import { runnerNames } from "./step.ts";
import type { Step } from "./step.ts";

// Defaults for the rows of the table in `steps.ts`.

type Row = Pick<Step, "name" | "purpose" | "command" | "inputs"> & Partial<Step>;

export const step = (row: Row): Step => ({
  needs: [],
  outputs: [],
  archives: [],
  image: "node",
  services: [],
  secrets: [],
  environment: {},
  cores: 1,
  timeLimitSeconds: 300,
  counts: "one",
  runners: runnerNames,
  ...row,
});

type SuiteRow = Omit<Row, "command"> & {
  /** Test files that run side by side; undefined: as many as cores. */
  readonly workers?: number;
};

/** Defines a suite of `vitest.config.ts`. It runs after the step `types`, which finds a broken program in seconds. */
export const suite = ({ workers, ...row }: SuiteRow): Step => {
  const cores = row.cores ?? 2;
  const command = ["vitest", "run", "--project", row.name, `--maxWorkers=${workers ?? cores}`] as const;
  return step({ command, needs: ["types"], counts: "vitest", timeLimitSeconds: 600, ...row, cores });
};

/** Claim of a suite whose tests mostly wait: its two workers keep one processor busy. */
export const waiting = { cores: 1, workers: 2 } as const;

/** Defines a step that lints documents with the rules of a configuration. */
export const redocly = (name: string, purpose: string, config: string, documents: readonly string[]): Step =>
  step({
    name,
    purpose,
    command: ["redocly", "lint", ...documents, "--config", config],
    environment: { REDOCLY_TELEMETRY: "off" },
    inputs: ["openapi"],
  });

/** Defines a step that runs in the environment of `ci/python`. The first of these steps installs it. */
export const python = (name: string, purpose: string, command: readonly string[], more: readonly string[] = []): Step =>
  step({
    name,
    purpose,
    command: ["node", "ci/python/run.ts", ...command],
    needs: name === "python:lint" ? [] : ["python:lint"],
    image: "python",
    inputs: ["demo-models", "docs/readers", "fuzz", "packages/json-schema-grammar/bench", "pyproject.toml", ...more],
  });
