import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { files, read, root } from "./tree.ts";

const pages = files.filter((path) => path.endsWith(".md") && !path.startsWith("demo-models/"));

describe("code in pages", () => {
  /** Code blocks that name the file that they show. */
  const snippets = pages.flatMap((page) =>
    [...read(page).matchAll(/<!-- from (\S+) -->\n+```\w+\n([\s\S]*?)```/g)].map(
      ([, source = "", code = ""]) => [page, source, code] as const,
    ),
  );

  test.each(snippets)("%s shows %s as it is", (_page, source, code) => {
    expect(code).toBe(read(source));
  });

  test("the README shows at least the OpenAI SDK and our own client", () => {
    const shown = snippets.filter(([page]) => page === "README.md").map(([, source]) => source);
    expect(shown).toEqual(expect.arrayContaining(["docs/examples/openai.ts", "packages/client/examples/stream.ts"]));
  });
});

describe("examples", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const run = promisify(execFile);
  const examples = files.filter((path) => /^docs\/examples\/.+\.ts$/.test(path));

  test.each(examples)("%s runs and prints an answer", async (example) => {
    const env = { ...process.env, PARLEY_URL: server.baseUrl, PARLEY_KEY: testKey };
    const { stdout } = await run(process.execPath, [join(root, example)], { env });
    expect(stdout).toContain("You said: What is a reentrancy attack?");
  });
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
