import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The package as `pnpm publish` would send it, installed with npm into an empty project. */

const run = promisify(execFile);
const packageDir = join(import.meta.dirname, "..");
const root = join(packageDir, "../..");
const folder = mkdtempSync(join(tmpdir(), "parley-pack-"));
const project = join(folder, "project");
const installed = join(project, "node_modules/@parley/json-schema-grammar");
let tarball: string;

beforeAll(async () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { engines: { pnpm: string } }; // ours
  const pnpm = ["-y", `pnpm@${engines.pnpm.replace(">=", "")}`];
  await run("npx", [...pnpm, "pack", "--pack-destination", folder], { cwd: packageDir });
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  mkdirSync(project);
  const dependency = "@eslint-community/regexpp";
  const manifest = {
    type: "module",
    private: true,
    dependencies: { "@parley/json-schema-grammar": `file:${tarball}` },
    // The only dependency comes from this workspace, so the test needs no registry.
    overrides: { [dependency]: `file:${realpathSync(join(packageDir, "node_modules", dependency))}` },
  };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: project });
});
afterAll(() => rmSync(folder, { recursive: true }));

const filesOf = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));

test("has the code, the types, the README and the licence, and nothing else", () => {
  const names = filesOf(installed);
  expect(names).toEqual(expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/json/index.js"]));
  expect(names.filter((name) => !/^dist\/[\w/-]+(\.d\.ts|\.js)$/.test(name)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
  ]);
  expect(names.filter((name) => /test|bench/.test(name))).toEqual([]);
});

test("is small, and needs one package", () => {
  const bytes = gzipSync(Buffer.concat(filesOf(installed).map((name) => readFileSync(join(installed, name))))).length;
  process.stdout.write(`@parley/json-schema-grammar: ${bytes} bytes with gzip\n`);
  expect(bytes).toBeLessThanOrEqual(120 * 1024);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    dependencies: object;
  };
  expect(dependencies).toEqual({ "@eslint-community/regexpp": expect.stringMatching(/^\d/) });
});

test("publint finds nothing", async () => {
  const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test("attw finds nothing for importers of ES modules", async () => {
  const attw = join(packageDir, "node_modules/.bin/attw");
  const { stdout } = await run(attw, [tarball, "--profile", "esm-only", "--format", "json"]);
  const { analysis } = JSON.parse(stdout) as {
    analysis: { problems: readonly { readonly resolutionKind?: string }[] };
  }; // attw's own format
  const seen = analysis.problems.filter(({ resolutionKind }) => !/^node(10|16-cjs)$/.test(resolutionKind ?? ""));
  expect(seen).toEqual([]);
});

/** Code that a strict TypeScript project may write, and code that must not compile. It prints a line for each call. */
const use = `import { compileSchema, explainSchema, nearestForm, satisfies, smallestValue } from "@parley/json-schema-grammar";
import type { RefusalKind } from "@parley/json-schema-grammar";
import { parseJson } from "@parley/json-schema-grammar/json";
interface OtherLibrarySchema { type: "object"; required: string[]; properties: Record<string, { type: string }> }
const schema: OtherLibrarySchema = { type: "object", required: ["a"], properties: { a: { type: "integer" } } };
const compiled = compileSchema(schema, { isObject: true, maxSteps: 1000 });
// @ts-expect-error it may have been refused
compiled.grammar;
if ("fault" in compiled) throw new Error(compiled.fault.reason);
const grammar: string = compiled.grammar;
console.log(grammar.startsWith("root ::= "));
console.log(satisfies(schema, { a: 1 }), satisfies(schema, { a: 1.5 }));
console.log(JSON.stringify(smallestValue(schema)));
console.log(explainSchema({ uniqueItems: true }).unenforced.map(({ keyword }) => typeof nearestForm(keyword)).join());
// @ts-expect-error a text is not a schema; parse it first
const refused = compileSchema("{}");
const kind: RefusalKind | false = "fault" in refused && refused.kind;
console.log(kind);
const exact = compileSchema(parseJson('{"const": 9007199254740993}') as object);
console.log("grammar" in exact && exact.grammar.includes("9007199254740993"));
`;
const strict =
  "--strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --lib es2022,dom --types".split(" ");

test.each([
  ["a bundler", ["--module", "esnext", "--moduleResolution", "bundler"]],
  ["Node", ["--module", "nodenext"]],
])("its types stand on their own in %s, and the code runs", async (_where, options) => {
  writeFileSync(join(project, "use.ts"), use);
  const tsc = join(root, "node_modules/.bin/tsc");
  const compiled = run(tsc, [...strict, "", ...options, "use.ts"], { cwd: project }).catch(
    (error: { readonly stdout: string }) => error,
  );
  expect((await compiled).stdout).toBe("");
  const { stdout } = await run(process.execPath, ["use.js"], { cwd: project });
  expect(stdout.trim().split("\n")).toEqual(["true", "true false", '{"a":1}', "string", "malformed", "true"]);
});
