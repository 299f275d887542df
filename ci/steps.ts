/** The pipeline, once: the host runs these steps one after another, and a container pipeline can be built from them. */
export interface Step {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** What must be there beside Node and the installed packages. */
  readonly needs: readonly ("chromium" | "python" | "docker")[];
  /** Paths whose change can change the outcome. */
  readonly inputs: readonly string[];
  /**
   * How its output is counted: as one check, or from the report that vitest writes to `$REPORT`. A step that ends with
   * `didNotRun` is neither passed nor failed: what it needs is not there, and it has said so.
   */
  readonly counts: "one" | "vitest";
  readonly suites: readonly ("check" | "test" | "pipeline" | "vllm")[];
}

/** The exit code of a step that could not run, as automake and others have it. */
export const didNotRun = 77;

const code = ["packages", "openapi", "repo", "ci", "docs", "fuzz"];

export const steps: readonly Step[] = [
  {
    name: "types",
    command: ["tsc", "-p", "."],
    needs: [],
    inputs: [...code, "tsconfig.json"],
    counts: "one",
    suites: ["check", "test", "pipeline"],
  },
  {
    name: "lint",
    command: ["oxlint", "--type-aware", "--deny-warnings"],
    needs: [],
    inputs: [...code, ".oxlintrc.json"],
    counts: "one",
    suites: ["check", "test", "pipeline"],
  },
  {
    name: "format",
    command: ["oxfmt", "--check"],
    needs: [],
    inputs: [...code, ".oxfmtrc.json"],
    counts: "one",
    suites: ["check", "test", "pipeline"],
  },
  {
    name: "contract lint",
    command: ["redocly", "lint", "openapi/openapi.yaml", "--config", "openapi/redocly.yaml"],
    needs: [],
    inputs: ["openapi"],
    counts: "one",
    suites: ["check", "test", "pipeline"],
  },
  {
    name: "tests",
    command: ["vitest", "run"],
    needs: [],
    inputs: [...code, "vitest.config.ts"],
    counts: "vitest",
    suites: ["test", "pipeline"],
  },
  {
    name: "fuzz",
    command: ["node", "fuzz/main.ts"],
    needs: ["python"],
    inputs: ["packages/server", "packages/inference", "openapi", "fuzz"],
    counts: "one",
    suites: ["test"],
  },
  {
    name: "fuzz in a container",
    command: ["node", "fuzz/main.ts", "--container"],
    needs: ["docker"],
    inputs: ["packages/server", "packages/inference", "openapi", "fuzz"],
    counts: "one",
    suites: ["pipeline"],
  },
  {
    name: "tests against a real vLLM",
    command: ["node", "ci/test-vllm.ts"],
    needs: ["python"],
    inputs: ["packages/inference", "packages/server", "ci/test-vllm.ts", "vitest.vllm.config.ts"],
    counts: "vitest",
    suites: ["test", "pipeline", "vllm"],
  },
];
