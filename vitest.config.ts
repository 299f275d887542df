import { join } from "node:path";
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
  mutants: [
    "packages/conformance/test/mutants.test.ts",
    "packages/conformance/test/proof",
    "packages/conformance/test/sdk-proofs.test.ts",
  ],
  "fuzz-checks": ["fuzz"],
  "demo-models": ["demo-models"],
  docs: ["generate", "site"],
  readers: ["docs/readers", "docs/examples"],
  "image:container": ["deploy"],
  chart: ["deploy/chart-tests"],
  packages: [
    "packages/client/test/package.test.ts",
    "packages/conformance/test/package.test.ts",
    "packages/json-schema-grammar/test/package.test.ts",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Starts PostgreSQL and Valkey, and makes all test servers keep their state there. */
const provideStores = "packages/server/testing/provide-stores.ts";

/** Test files of the server that cannot run on PostgreSQL and Valkey, or have nothing to show there. */
const withoutState = [
  // They hide tables of SQLite. With PostgreSQL, a lookup that fails is answered with 503.
  "packages/server/src/operations/*/500.test.ts",
  // They are about the file of SQLite: its backups, its growth, its syncs and its older versions.
  "packages/server/test/backup.test.ts",
  "packages/server/test/disk.test.ts",
  "packages/server/test/durability.test.ts",
  // Their commands run in a shell of their own, as a reader types them, without the stores.
  "packages/server/test/guide-commands.test.ts",
  "packages/server/test/operators-day.test.ts",
  // They open the stores themselves, or start the program in another way.
  "packages/server/test/state/**",
  "packages/server/test/bundle.test.ts",
  // They take SDKs, and pass through the operations that the other files test.
  "packages/server/test/partners/**",
];

/** A suite that runs tests of the others once more. */
interface RepeatedSuite {
  readonly paths: readonly string[];
  /** A value that `useServer` asks for. */
  readonly provide?: { readonly mount: "express" };
  /** A module that prepares the run. */
  readonly globalSetup?: string;
  /** Test files in `paths` that this suite does not run. */
  readonly exclude?: string[];
}

export const repeatedSuites = {
  "operations:express": {
    paths: ["packages/server/src/operations/create-chat-completion", "packages/server/test/order.test.ts"],
    provide: { mount: "express" },
  },
  /** The server on PostgreSQL and Valkey: the statuses in which keys, limits and money have a part, reports, and owners. */
  "shared-state": {
    paths: [
      ...["200", "200-stream", "401", "402", "404", "429", "429-no-maximum", "502", "503"].map(
        (status) => `packages/server/src/operations/create-chat-completion/${status}.test.ts`,
      ),
      ...["200", "401", "503"].map((status) => `packages/server/src/operations/list-models/${status}.test.ts`),
      "packages/server/src/operations/retrieve-model/200.test.ts",
      "packages/server/src/operations/retrieve-key/200.test.ts",
      ...["200", "404"].map((status) => `packages/server/src/operations/retrieve-receipt/${status}.test.ts`),
      "packages/server/test/reports.test.ts",
      "packages/server/test/admin/owners.test.ts",
    ],
    globalSetup: provideStores,
  },
  /** All of them. */
  "shared-state:all": {
    paths: ["packages/server/src/operations", "packages/server/test"],
    exclude: withoutState,
    globalSetup: provideStores,
  },
} as const satisfies Readonly<Record<string, RepeatedSuite>>;

const filesAt = (path: string): string => (path.endsWith(".test.ts") ? path : `${path}/**/*.test.ts`);

const allPaths: readonly string[] = Object.values(suites).flat();

/** Suites whose files share the modules of a worker: they keep no state there, and every file would load the server again. */
const sharing = new Set(["unit", "server", "operations", "operations:express", "shared-state"]);

const projects = Object.entries(suites).map(([name, paths]: readonly [string, readonly string[]]) => ({
  extends: true as const,
  test: {
    name,
    isolate: !sharing.has(name),
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

const repeatedProjects = Object.entries(repeatedSuites).map(
  ([name, { paths, ...settings }]: readonly [string, RepeatedSuite]) => ({
    extends: true as const,
    test: { name, isolate: !sharing.has(name), include: paths.map(filesAt), ...settings },
  }),
);

export default defineConfig({
  test: {
    projects: [...projects, ...repeatedProjects],
    // Two cores: more workers would only make deadlines that the contract promises fail for want of a processor.
    maxWorkers: 2,
    // Programs that tests start keep the code that V8 has compiled, where the server's own command keeps it.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/parley") },
    // Vitest's own bound is one second, which a busy machine exceeds.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // It imports JSON without an attribute, which Node refuses.
    server: { deps: { inline: ["@actions/workflow-parser"] } },
  },
});
