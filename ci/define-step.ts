import { runnerNames } from "./step.ts";
import type { Step } from "./step.ts";

// What most steps have in common.

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

/** A suite of `vitest.config.ts`. It runs after the types, which find a broken program in seconds. */
export const suite = (row: Omit<Row, "command">): Step => {
  const cores = row.cores ?? 2;
  const command = ["vitest", "run", "--project", row.name, `--maxWorkers=${cores}`] as const;
  return step({ command, needs: ["types"], counts: "vitest", timeLimitSeconds: 600, ...row, cores });
};

/** Runs in the environment of `ci/python`, which the first of these steps installs. */
export const python = (name: string, purpose: string, command: readonly string[], more: readonly string[] = []): Step =>
  step({
    name,
    purpose,
    command: ["node", "ci/python/run.ts", ...command],
    needs: name === "python:lint" ? [] : ["python:lint"],
    image: "python",
    inputs: ["demo-models", "docs/readers", "fuzz", "pyproject.toml", ...more],
  });
