import { defineConfig } from "vitest/config";

/**
 * The suites, each a step of `ci/steps.ts`: where their test files lie. Where two paths lead to a file, the longer one
 * counts, so that every test file belongs to one suite.
 */
export const suites = {
  contract: ["openapi"],
  generated: ["generate/generated.test.ts"],
  repository: ["repository-tests", "ci"],
  unit: ["packages/common/src", "packages/inference/src", "packages/json-schema-grammar/src", "packages/server/src"],
  operations: ["packages/server/src/operations"],
  engines: ["packages/inference/test"],
  server: ["packages/server/test"],
  sdks: ["packages/server/test/partners"],
  client: ["packages/client"],
  "conformance-suite": ["packages/conformance"],
  bench: ["bench/gateways", "bench/native"],
  schemas: ["packages/json-schema-grammar/bench", "packages/json-schema-grammar/test"],
  pressure: ["bench/pressure"],
  partners: ["packages/partners"],
  mutants: ["packages/conformance/test/proof.test.ts"],
  "fuzz-checks": ["fuzz"],
  "demo-models": ["demo-models"],
  docs: ["generate", "site"],
  readers: ["docs/readers", "docs/examples"],
  "image:container": ["deploy"],
  packages: [
    "packages/client/test/package.test.ts",
    "packages/conformance/test/package.test.ts",
    "packages/json-schema-grammar/test/package.test.ts",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Suites that run tests of the others once more, with a value that `useServer` asks for. */
export const repeatedSuites = {
  "operations:express": {
    paths: ["packages/server/src/operations/create-chat-completion", "packages/server/test/order.test.ts"],
    provide: { mount: "express" },
  },
} as const;

const filesAt = (path: string): string => (path.endsWith(".test.ts") ? path : `${path}/**/*.test.ts`);

const allPaths: readonly string[] = Object.values(suites).flat();

const projects = Object.entries(suites).map(([name, paths]: readonly [string, readonly string[]]) => ({
  extends: true as const,
  test: {
    name,
    include: paths.map(filesAt),
    exclude: [
      "**/node_modules/**",
      "**/dist/**",
      ...allPaths
        .filter((other) => !paths.includes(other) && paths.some((path) => other.startsWith(`${path}/`)))
        .map(filesAt),
    ],
  },
}));

const repeatedProjects = Object.entries(repeatedSuites).map(([name, { paths, provide }]) => ({
  extends: true as const,
  test: { name, include: paths.map(filesAt), provide },
}));

export default defineConfig({
  test: {
    projects: [...projects, ...repeatedProjects],
    // Two cores: more workers would only make deadlines that the contract promises fail for want of a processor.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // It imports JSON without an attribute, which Node refuses.
    server: { deps: { inline: ["@actions/workflow-parser"] } },
  },
});
