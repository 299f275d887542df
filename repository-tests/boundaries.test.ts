import { expect, test } from "vitest";
import { findCycles } from "./cycles.ts";
import { importsOf, readWith } from "./imports.ts";
import { files, read } from "./tree.ts";

/** The arrows between the packages, and the words that belong to one place. Tests may reach further than the code. */

const isCode = (path: string): boolean =>
  /\.(ts|mjs)$/.test(path) && !path.endsWith(".test.ts") && !path.includes("/generated/");
const sourcesIn = (folder: string): string[] => files.filter((path) => path.startsWith(folder) && isCode(path));

/** Finds the imports of a file from elsewhere in the tree: packages by their exports, folders by their files. */
const ownTargets = (path: string): string[] =>
  importsOf(path).filter((target) =>
    /^(@parley|packages|openapi|demo-models|docs|bench|fuzz|ci|deploy|generate|repository-tests|site)\//.test(target),
  );

const contractExports = /^@parley\/contract\/(?!compile-package$)/;
const contractTypes = /^@parley\/contract\/types$/;

/** The exports of the grammar package, without its testing tools. */
const grammarExports = /^@parley\/json-schema-grammar(\/(?!testing$)[^/]+)?$/;

/** The table of ARCHITECTURE.md: the imports that a folder may have besides its own files. */
const arrows: readonly (readonly [folder: string, allowed: readonly RegExp[]])[] = [
  ["openapi/", [contractExports]],
  ["packages/contract/", []],
  ["packages/common/src/", []],
  ["packages/json-schema-grammar/src/", []],
  ["packages/json-schema-grammar/testing/", [/^packages\/json-schema-grammar\/src\//]],
  ["packages/json-schema-grammar/bench/", [/^packages\/json-schema-grammar\//, /^@parley\/common\/flag-values$/]],
  ["packages/inference/src/", [/^@parley\/common\//, contractTypes, grammarExports]],
  ["packages/inference/testing/", [/^packages\/inference\/src\//, grammarExports]],
  [
    "packages/server/src/",
    [
      /^@parley\/common\//,
      /^@parley\/inference(\/(embedded|scripted|remote|vllm|examine-(model|front)|fronts))?$/,
      contractExports,
      grammarExports,
    ],
  ],
  [
    "packages/server/testing/",
    [/^@parley\/common\//, /^packages\/server\/src\//, /^@parley\/inference$/, contractExports, /^openapi\/checks\//],
  ],
  ["packages/client/src/", [/^@parley\/contract\/(types|retry-rules)$/]],
  ["packages/conformance/src/", [contractExports]],
  ["packages/conformance/sdks/", [/^packages\/conformance\/src\//]],
  ["packages/conformance/mutants/", [/^packages\/conformance\//, contractExports]],
  ["packages/conformance/results/", [/^packages\/conformance\//, contractExports, /^@parley\/inference\/vllm$/]],
  ["packages/partners/src/", [/^@parley\/server\/testing$/]],
  ["demo-models/", []],
  ["docs/", []],
  ["site/", [/^@parley\/(contract\/(document|stream-machine|stream-words)|partners)$/, /^generate\/offered\//]],
  ["generate/", [/^@parley\/(common|contract|server|partners)(\/|$)/, /^openapi\/(checks|variants)\//]],
  [
    "bench/",
    [
      /^@parley\/common\//,
      /^@parley\/(inference|server)(\/(embedded|vllm|compile-wanted|testing(\/(vllm|fronts))?))?$/,
      grammarExports,
    ],
  ],
  ["fuzz/", [/^@parley\/common\//, /^@parley\/server(\/testing)?$/, contractExports, /^ci\//]],
  ["ci/", [/^@parley\/common\//, /^@parley\/(inference\/vllm|site)$/]],
  ["deploy/", []],
];

test.each(arrows)("%s imports only what its arrows allow", (folder, allowed) => {
  const foreign = sourcesIn(folder).flatMap((path) =>
    ownTargets(path)
      .filter((target) => !target.startsWith(folder) && !allowed.some((pattern) => pattern.test(target)))
      .map((target) => `${path} → ${target}`),
  );
  expect(foreign).toEqual([]);
});

test("nobody imports a file of another package, tests included: a package has exports for its code and for tests", () => {
  const packageOf = (path: string): string | undefined => /^packages\/[^/]+\//.exec(path)?.[0];
  const strays = files
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .flatMap((path) => importsOf(path).map((target) => [path, target] as const))
    .filter(([path, target]) => packageOf(target) !== undefined && packageOf(target) !== packageOf(path));
  expect(strays.map(([path, target]) => `${path} → ${target}`)).toEqual([]);
});

test("a program reads nothing that runs in vitest only", () => {
  const programs = sourcesIn("").filter((path) => /^(bench|ci|fuzz|generate)\//.test(path) && !path.includes("/test/"));
  expect(programs).toEqual(expect.arrayContaining(["bench/vllm/serve.ts", "fuzz/serve.ts"]));
  expect(programs.filter((path) => readWith(path).has("vitest"))).toEqual([]);
});

test("every folder at the top of the tree has a row in ARCHITECTURE.md", () => {
  const folders = new Set(files.flatMap((path) => /^(?!\.|packages\/)[^/]+\//.exec(path) ?? []));
  const page = read("ARCHITECTURE.md");
  expect([...folders].filter((folder) => !page.includes(`| \`${folder}\``))).toEqual([]);
});

/** Folders whose entries, their files and folders of the first level, import each other in one direction only. */
const layered = [
  ...new Set(files.flatMap((path) => /^packages\/[^/]+\/src\//.exec(path) ?? [])),
  "bench/",
  "ci/",
  "demo-models/",
  "generate/",
  "site/src/",
  "fuzz/",
  "repository-tests/",
];

/** Cycles that are still to be broken. Delete the line of a cycle that is gone. */
const knownCycles: Readonly<Record<string, readonly (readonly string[])[]>> = {};

test.each(layered)("the entries of %s import each other in one direction only", (root) => {
  expect(findCycles(root, sourcesIn(root))).toEqual(knownCycles[root] ?? []);
});

const words: readonly (readonly [word: string, library: RegExp, homes: RegExp])[] = [
  [
    "Express",
    /^express(-openapi-validator.*)?$/,
    /^packages\/server\/src\/(express\/express-(app|gate)|admin\/admin-app)\.ts$/,
  ],
  ["llama.cpp", /^node-llama-cpp$/, /^packages\/inference\/src\/embedded\//],
  ["the chat template", /^@huggingface\/jinja$/, /^packages\/inference\/src\/prompt\//],
  ["SQLite", /^node:sqlite$/, /^packages\/server\/src\/state\//],
  ["an engine's HTTP", /^(undici|eventsource-parser)$/, /^packages\/inference\/src\/wire\//],
  ["openapi-fetch", /^openapi-fetch$/, /^packages\/(client\/src\/|server\/src\/cli\/manage\.ts$)/],
];

test.each(words)("%s is used in its own folders only", (_word, library, homes) => {
  const strays = sourcesIn("packages/").filter(
    (path) => path.includes("/src/") && !homes.test(path) && importsOf(path).some((target) => library.test(target)),
  );
  expect(strays).toEqual([]);
});

/** Files that read, explain or carry out the operator's choice of an engine. */
const choosesEngines = /^packages\/server\/src\/(config|cli)\/|\/models\/(start-engine|start-vllm)\.ts$/;

test("the server has no word of an engine's own dialect", () => {
  const strays = sourcesIn("packages/server/src/").filter(
    (path) => !choosesEngines.test(path) && /\bvllm\b|node-llama-cpp|\bgbnf\b/i.test(read(path)),
  );
  expect(strays).toEqual([]);
});

test("inference compiles a schema in one place, which remembers it", () => {
  const names = /import \{[^}]*\bcompile(Schema|Rules)\b[^}]*\} from "@parley\/json-schema-grammar"/;
  const compilers = sourcesIn("packages/").filter((path) => path.includes("/src/") && names.test(read(path)));
  expect(compilers).toEqual(["packages/inference/src/schemas/compile-wanted.ts"]);
});

/**
 * The rooms of the server, from the bottom to the top: each with the rooms that its files may import. The files next to
 * them put them together, in one process or in several (`workers/`).
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  config: [],
  observe: [],
  accounts: ["errors", "observe"],
  state: ["accounts"],
  models: ["accounts", "config", "errors"],
  http: ["accounts", "config", "errors", "models", "observe"],
  sockets: ["config", "errors", "http", "observe"],
  chat: ["accounts", "config", "errors", "http", "models", "observe"],
  operations: ["accounts", "chat", "errors", "http", "models"],
  site: ["config", "errors", "http"],
  admin: ["accounts", "config", "http", "observe"],
  express: ["chat", "deps.ts", "site"],
};

const server = "packages/server/src/";
const roomOf = (path: string): string => path.slice(server.length).split("/")[0] ?? "";

test.each(Object.entries(rooms))("the room %s of the server imports only rooms below it", (room, below) => {
  const own = sourcesIn(`${server}${room}/`);
  expect(own).not.toEqual([]);
  const used = new Set(
    own
      .flatMap(importsOf)
      .filter((target) => target.startsWith(server))
      .map(roomOf),
  );
  expect([...used].filter((other) => other !== room).toSorted()).toEqual(below);
});

test("every folder of the server is a room, or starts and bundles it", () => {
  const folders = new Set(
    sourcesIn(server)
      .map(roomOf)
      .filter((name) => !name.includes(".")),
  );
  expect([...folders].toSorted()).toEqual([...Object.keys(rooms), "bundle", "cli", "workers"].toSorted());
});

test("no data of a request is kept in a map that is keyed by the request, its response or its socket", () => {
  const keyed = /new WeakMap<\s*(IncomingMessage|ServerResponse|HttpRequest|Socket|Exchange)\b/;
  expect(sourcesIn("packages/server/src/").filter((path) => keyed.test(read(path)))).toEqual([]);
});

test("only dates are read from the wall clock; spans are measured with a monotonic one, which nobody can set", () => {
  const datesOnly =
    /^packages\/client\/src\/retry-advice\.|^packages\/server\/src\/(cli\/(read-argument|backup|migrate|prune|manage)|bundle\/write-bundle|http\/exchange|open-parts|serve-requests|state\/database|workers\/start-workers)\.ts$/;
  const strays = sourcesIn("packages/").filter((path) => /^packages\/(client|inference|server)\/src\//.test(path));
  expect(strays.filter((path) => read(path).includes("Date.now") && !datesOnly.test(path))).toEqual([]);
});
