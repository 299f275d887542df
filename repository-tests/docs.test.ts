import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { files, read, root } from "./tree.ts";

const pages = files.filter((path) => path.endsWith(".md") && !path.startsWith("demo-models/"));

const shownFiles = (page: string): string[] => [...page.matchAll(/<!-- from (\S+) -->/g)].map(([, path = ""]) => path);

describe("code in pages", () => {
  /** Code blocks that name the file that they show. */
  const snippets = pages.flatMap((page) =>
    [...read(page).matchAll(/<!-- from (\S+) -->\n+```\w+(?: [^\n]+)?\n([\s\S]*?)```/g)].map(
      ([, source = "", code = ""]) => [page, source, code] as const,
    ),
  );

  test.each(snippets)("%s shows %s as it is", (_page, source, code) => {
    expect(code, "run: npx -y pnpm@12.21.0 generate").toBe(read(source));
  });

  test("the README shows at least the OpenAI SDK and our own client", () => {
    const shown = snippets.filter(([page]) => page === "README.md").map(([, source]) => source);
    expect(shown).toEqual(expect.arrayContaining(["docs/examples/openai.ts", "packages/client/examples/stream.ts"]));
  });
});

test("the guides show every sample of docs/examples and of the client", () => {
  const shown = new Set(files.filter((path) => path.endsWith(".md")).flatMap((page) => shownFiles(read(page))));
  const samples = files.filter((path) => /^docs\/examples\/.+\/|^packages\/client\/examples\/\w.*\.ts$/.test(path));
  expect(samples.filter((path) => !shown.has(path))).toEqual([]);
});

/** The test that runs the commands and the code of a guide, where its blocks do not show a file. */
const runBy: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "first-run",
      "keys-and-limits",
      "usage",
      "backup",
      "metrics",
      "tracing",
      "upgrades",
      "configuration",
      "implementing",
      "scripted-engine",
    ].map((name) => [name, "packages/server/test/guide-commands.test.ts"]),
  ),
  identity: "packages/server/test/identities.test.ts",
  "laptop-to-cluster": "packages/server/test/state/laptop-to-cluster.test.ts",
  "from-one-to-many": "packages/server/test/workers.test.ts",
  kubernetes: "deploy/chart-tests/install.test.ts",
  "operators-day": "packages/server/test/operators-day.test.ts",
  "reading-streams": "docs/readers/readers.test.ts",
  "mock-and-collections": "generate/offered/offered-files.test.ts",
  schemathesis: "fuzz/test/stock-run.test.ts",
  conformance: "packages/conformance/test/cli.test.ts",
  "your-app": "packages/partners/test/apps.test.ts",
  services: "packages/server/test/service.test.ts",
  fronts: "packages/inference/test/fronts/",
  "admin-api": "packages/server/test/admin/guide.test.ts",
  "own-model": "packages/server/test/start.test.ts",
  vllm: "packages/server/test/vllm/",
  "vllm-measured": "packages/server/test/vllm/",
};

/** Setting the address and the key needs no test. */
const isSetting = (code: string): boolean => /^export (?:PARLEY_\w+=\S+ ?)+\n$/.test(code);

test.each(pages.filter((page) => page.startsWith("docs/guides/")))("the samples of %s are run by a test", (page) => {
  const blocks = [
    ...read(page).matchAll(/^(<!-- from \S+ -->\n+)?```(sh|console|ts|js|python|go|java)\b.*\n([^]*?)^```$/gm),
  ];
  const others = blocks.filter(([, source, , code = ""]) => source === undefined && !isSetting(code));
  const name = basename(page, ".md");
  if (others.length === 0) expect(runBy).not.toHaveProperty(name);
  else expect(files.some((path) => path.startsWith(runBy[name] ?? "?"))).toBe(true);
});

test("the lines of samples fit into the column of the portal", () => {
  const samples = files.filter((path) => /^docs\/examples\/.+\/|^packages\/client\/examples\/\w.*\.ts$/.test(path));
  const isLong = (line: string): boolean => line.replaceAll("\t", "  ").length > 90;
  const long = samples.flatMap((path) =>
    read(path)
      .split("\n")
      .filter(isLong)
      .map((line) => `${path}: ${line}`),
  );
  expect(long).toEqual([]);
});

test.each(pages)("the links of %s lead somewhere", (page) => {
  const targets = [...read(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, target = ""]) => target);
  const broken = targets.filter((target) => !existsSync(join(root, dirname(page), target)));
  expect(broken).toEqual([]);
});

test.each(["README.md", "ARCHITECTURE.md"])("%s gives the number of clauses of the contract", (page) => {
  const clauses = read("openapi/clauses.yaml").match(/^ *- id: /gm) ?? [];
  expect(read(page)).toMatch(new RegExp(`\\b${clauses.length} numbered clauses\\b`));
});

test("CONTRIBUTING.md lists every script of package.json, and each script runs a program of the tree", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> }; // our own file
  const listed = [...read("CONTRIBUTING.md").matchAll(/^- `(?:run )?([\w:]+)(?: …)?` /gm)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted());
  const programs = Object.values(scripts).map(
    (script) => /^node launch\.mjs (?:--\S+ )*(\S+)/.exec(script)?.[1] ?? script,
  );
  expect(programs.filter((program) => !files.includes(program))).toEqual([]);
});

test.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])("no line of %s is wider than 120 columns", (page) => {
  expect(
    read(page)
      .split("\n")
      .filter((line) => line.length > 120),
  ).toEqual([]);
});

test.each([
  ["package.json", "packages/inference/", "scripted"],
  ["config/engine-settings.ts", "packages/server/src/", "engineDrivers"],
  ["config/read-engine.ts", "packages/server/src/", "readers"],
  ["models/start-engine.ts", "packages/server/src/", "startEngine"],
])("docs/adding-a-driver.md names %s, and a driver is registered there", (file, folder, word) => {
  expect(read("docs/adding-a-driver.md")).toContain(file);
  expect(read(folder + file)).toMatch(new RegExp(`\\b${word}\\b`));
});

test("docs/request-path.md names the steps in the order of app.ts", () => {
  const [, code = ""] =
    /^async function serve\(([^]*?)^async function validate/m.exec(read("packages/server/src/app.ts")) ?? [];
  const table = read("docs/request-path.md").split("Inside")[0] ?? "";
  const steps = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
  // The first step is opened before the path, and the last two follow it.
  const onThePath = steps.slice(1, -2);
  const places = onThePath.map((name) => code.lastIndexOf(name.replace("validateBody", "validate(")));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect([steps[0], ...steps.slice(-2)]).toEqual(["Exchange", "reportError", "logAccess"]);
});

test("docs/request-path.md names the steps of a chat request in the order of its operation", () => {
  const [, inside = ""] = read("docs/request-path.md").split("Inside");
  const steps = [...inside.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
  const code = read("packages/server/src/operations/create-chat-completion/create-chat-completion.ts").replace(
    /^import .*$/gm,
    "",
  );
  const places = steps.map((name) => code.indexOf(`${name}(`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});
