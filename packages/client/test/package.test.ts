import { execFile } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageDir, root } from "./build-dist.ts";
import { bundlePackage } from "./bundle.ts";
import { packPackage } from "./pack.ts";
import type { PackedPackage } from "./pack.ts";

/** The package as it would be published. */

const run = promisify(execFile);

let packed: PackedPackage;
beforeAll(async () => {
  packed = await packPackage();
});
afterAll(() => packed[Symbol.dispose]());

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test("the package with openapi-fetch is at most 8 kB with gzip", async () => {
  const bytes = gzipSync(await bundlePackage()).length;
  process.stdout.write(`@parley/client: ${bytes} bytes with gzip\n`);
  expect(bytes).toBeLessThanOrEqual(8 * 1024);
});

test("has the code, the types, the README and the licence, and nothing else", () => {
  const names = filesOf(packed.installedDir).map((path) => path.slice(packed.installedDir.length + 1));
  expect(names.filter((name) => !/^dist\/[\w/-]+(\.d\.ts|\.js)$/.test(name)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
  ]);
  expect(names.filter((name) => /test/.test(name))).toEqual([]);
});

test("publint finds nothing", async () => {
  const { messages } = await publint({ pkgDir: packed.installedDir, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test("attw finds nothing for importers of ES modules", async () => {
  const attw = join(packageDir, "node_modules/.bin/attw");
  const { stdout } = await run(attw, [packed.tarball, "--profile", "esm-only", "--format", "json"]);
  const { analysis } = JSON.parse(stdout) as {
    analysis: { problems: readonly { readonly resolutionKind?: string }[] };
  }; // attw's own format
  const seen = analysis.problems.filter(({ resolutionKind }) => !/^node(10|16-cjs)$/.test(resolutionKind ?? ""));
  expect(seen).toEqual([]);
});

/** Code that a strict TypeScript project of a partner may write, and code that must not compile. */
const use = `import { createParley, collect, defineTool, hasCode, jsonFormat } from "@parley/client";
import type { StandardSchema } from "@parley/client";
const parley = createParley({ baseURL: "https://api.example.com", apiKey: async () => "key", fetch });
declare const schema: StandardSchema<{ readonly risk: "low" | "high" }>;
const response_format = jsonFormat({ name: "assessment", schema });
const { parsed } = await parley.parse({ model: "m", messages: [], response_format });
const risk: "low" | "high" = parsed.risk;
// @ts-expect-error the schema does not have it
parsed.reason;
defineTool({ name: "f", parameters: schema, run: (args) => args.risk === risk });
// @ts-expect-error tools have to be defined
await parley.runTools({ model: "m", messages: [], tools: [{ type: "function", function: { name: "f" } }] });
const { choices, usage } = await collect(parley.stream({ model: "m", messages: [{ role: "user", content: "x" }] }));
const text: string | null | undefined = choices[0]?.message.content;
// @ts-expect-error it is there only where it was asked for
usage.total_tokens;
// @ts-expect-error stream() is what streams
await parley.create({ model: "m", messages: [], stream: true });
export const isBusy = (error: unknown): boolean => hasCode(error, "capacity_exhausted") && error.param === null && text !== "";
`;
const strict = "--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022".split(" ");
const browser = "--module esnext --moduleResolution bundler --lib es2022,dom,dom.asynciterable --types".split(" ");
const node = "--module nodenext --lib es2022 --types node --typeRoots".split(" ");

test.each([
  ["a browser", [...browser, ""]],
  ["Node", [...node, join(root, "node_modules/@types")]],
])("its types stand on their own in %s", async (_where, options) => {
  writeFileSync(join(packed.projectDir, "use.ts"), use);
  const tsc = join(root, "node_modules/.bin/tsc");
  const checked = run(tsc, [...strict, ...options, "use.ts"], { cwd: packed.projectDir }).catch(
    (error: { readonly stdout: string }) => ({ stdout: error.stdout }),
  );
  expect((await checked).stdout).toBe("");
});

test("its types do not mention openapi-fetch", () => {
  const declarations = filesOf(join(packed.installedDir, "dist")).filter((path) => path.endsWith(".d.ts"));
  expect(declarations.filter((path) => /["']openapi-/.test(readFileSync(path, "utf8")))).toEqual([]);
});
