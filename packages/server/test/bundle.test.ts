import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { CliProcess, chatInit, parley } from "@parley/server/testing";
import type { Manifest } from "../src/bundle/fresh-bundle.mjs";
import { baseUrlOf, useFolder } from "./use-folder.ts";

// Before a start, `launch.mjs` puts the server into a few files, the bundle. These tests bundle a copy of the tree.

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = useFolder();
const tree = (...path: readonly string[]): string => join(folder.path(), "tree", ...path);
const server = (...path: readonly string[]): string => tree("packages/server", ...path);
const mainFile = (): string => server("src/cli/main.mjs");
const partFiles = (): readonly string[] => {
  const { parts } = JSON.parse(readFileSync(server("dist/bundle.json"), "utf8")) as Manifest; // the bundler wrote it
  return parts.map((name) => server("dist", name));
};
const entryFile = (): string => partFiles()[0] ?? "";

/** A line that the tests add to the bundle. If it is printed, the bundle was run. */
const mark = "this is the bundle\n";

const bundle = (): Promise<{ readonly code: number; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [server("src/bundle/main.ts")], (failure, _out, said) =>
      resolve({ code: Number(failure?.code ?? 0), said }),
    );
  });

/** Copies the sources with their ages, and links the packages. */
function copyTree(): void {
  for (const path of ["packages/server/src", "packages/inference/src"]) {
    cpSync(join(root, path), tree(path), { recursive: true, preserveTimestamps: true });
  }
  for (const path of ["packages/server", "packages/inference"]) {
    cpSync(join(root, path, "package.json"), tree(path, "package.json"));
    cpSync(join(root, path, "node_modules"), tree(path, "node_modules"), { recursive: true, verbatimSymlinks: true });
  }
  cpSync(join(root, "pnpm-lock.yaml"), tree("pnpm-lock.yaml"), { preserveTimestamps: true });
  for (const path of ["node_modules", "demo-models", "site"]) symlinkSync(join(root, path), tree(path));
}

beforeAll(copyTree);

test("the server is bundled", async () => {
  expect(await bundle()).toEqual({ code: 0, said: "" });
});

describe("a start runs the bundle", () => {
  beforeAll(() => {
    writeFileSync(entryFile(), `process.stderr.write(${JSON.stringify(mark)});\n${readFileSync(entryFile(), "utf8")}`);
  });

  /** Checks that the bundle was run. The sources would print the same version, without the mark. */
  async function isBundled(env: Readonly<Record<string, string>> = {}): Promise<boolean> {
    const { code, stdout, stderr } = await parley(["--version"], { program: mainFile(), cwd: folder.path(), env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^parley \d/) as string });
    return stderr === mark;
  }

  test("while its sources are as they were", async () => {
    expect(await isBundled()).toBe(true);
  });

  test.each(["packages/server/src/server.ts", "packages/inference/src/engine.ts", "pnpm-lock.yaml"])(
    "but not when %s was changed",
    async (path) => {
      const { atime, mtime } = statSync(tree(path));
      utimesSync(tree(path), atime, new Date(mtime.getTime() - 5000));
      expect(await isBundled()).toBe(false);
      utimesSync(tree(path), atime, mtime);
      expect(await isBundled()).toBe(true);
    },
  );

  test("but not when a source was changed in the second in which it was bundled", async () => {
    const { mtimeMs } = statSync(server("src/server.ts"));
    const manifest = server("dist/bundle.json");
    const text = readFileSync(manifest, "utf8");
    const writtenSeconds = Math.floor(mtimeMs / 1000);
    writeFileSync(manifest, JSON.stringify({ ...(JSON.parse(text) as object), writtenSeconds }));
    expect(await isBundled()).toBe(false);
    writeFileSync(manifest, text);
  });

  test("but not when a part of it is gone", async () => {
    const lost = partFiles().at(-1) ?? "";
    renameSync(lost, `${lost}.away`);
    expect(await isBundled()).toBe(false);
    renameSync(`${lost}.away`, lost);
    expect(await isBundled()).toBe(true);
  });

  test("but not when Node watches the sources", async () => {
    expect(await isBundled({ WATCH_REPORT_DEPENDENCIES: "1" })).toBe(false);
  });
});

test("a bundled server answers all it answers from its sources, with threads and with an engine in a process", async () => {
  const key = "environment-key-0123456789";
  const headers = { authorization: `Bearer ${key}` };
  await using started = new CliProcess(["start"], {
    ...folder.quick({ PARLEY_API_KEY: key, PARLEY_ENGINE: "embedded" }),
    program: mainFile(),
  });
  const url = await baseUrlOf(started);
  const ask = (path: string, init: RequestInit = { headers }): Promise<Response> => fetch(new URL(path, url), init);
  const chat = (body: Readonly<Record<string, unknown>>): Promise<Response> =>
    ask("/v1/chat/completions", chatInit({ max_completion_tokens: 8, ...body }, { headers }));

  const pages = ["/health", "/docs", "/v1/models", "/openapi.json", "/nothing"];
  const statuses = await Promise.all(pages.map(async (path) => (await ask(path)).status));
  expect(statuses).toEqual([200, 200, 200, 200, 404]);
  // One thread renders a long prompt, and another one compiles the schema.
  const messages = [{ role: "user", content: "A long prompt. ".repeat(400) }];
  const schema = { type: "object", properties: { a: { enum: [1] } }, required: ["a"], additionalProperties: false };
  const response_format = { type: "json_schema", json_schema: { name: "a", schema, strict: true } };
  const long = await chat({ messages });
  expect(await long.json()).toMatchObject({ object: "chat.completion" });
  const structured = await chat({ response_format, max_completion_tokens: 100 });
  const { choices } = (await structured.json()) as { readonly choices: readonly { message: { content: string } }[] };
  expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ a: 1 });
  expect(await (await chat({ stream: true })).text()).toContain("[DONE]");
  expect((await chat({ seed: 1.5 })).status).toBe(400);
  expect(started.stderr).toContain(mark);
  started.child.kill("SIGTERM");
  expect((await started.result()).code).toBe(0);
});

describe("writing the bundle", () => {
  test("twice gives the same files, if the time of the build is set", async () => {
    const buildAt = async (time: string): Promise<string> => {
      process.env["SOURCE_DATE_EPOCH"] = time;
      rmSync(server("dist"), { recursive: true });
      expect(await bundle()).toEqual({ code: 0, said: "" });
      delete process.env["SOURCE_DATE_EPOCH"];
      return readFileSync(server("dist/bundle.json"), "utf8");
    };
    const first = await buildAt("4000000000");
    expect(await buildAt("4000000000")).toBe(first);
    expect(await buildAt("4000000001")).not.toBe(first);
    // The bundle of now, for the other tests.
    rmSync(server("dist"), { recursive: true });
    await bundle();
  });

  test("again keeps the bundle before it for a week, which a running server may still load from", async () => {
    const monthAgo = new Date(Date.now() - 30 * 24 * 60 * 60 * 1000);
    const weeksOld = server("dist/replaced-weeks-ago.js");
    writeFileSync(weeksOld, "");
    const before = partFiles();
    for (const path of [...before, weeksOld]) utimesSync(path, monthAgo, monthAgo);
    const source = server("src/server.ts");
    writeFileSync(source, `${readFileSync(source, "utf8")}\nexport const changed = process.argv.length;\n`);
    expect(await bundle()).toEqual({ code: 0, said: "" });
    expect(partFiles()).not.toEqual(before);
    expect(before.filter((path) => !existsSync(path))).toEqual([]);
    expect(existsSync(weeksOld)).toBe(false);
  });

  test("replaces one whose manifest another version wrote", async () => {
    writeFileSync(server("dist/bundle.json"), JSON.stringify({ files: ["program.js"] }));
    expect(await bundle()).toEqual({ code: 0, said: "" });
    expect(partFiles()).not.toEqual([]);
  });

  test("says why it could not be done, and a start goes on without it", async () => {
    rmSync(server("dist"), { recursive: true });
    writeFileSync(server("dist"), "in the way");
    expect(await bundle()).toEqual({
      code: 1,
      said: expect.stringMatching(/^parley: The server could not be put into a few files.*EEXIST.*\n$/) as string,
    });
    const { code, stdout } = await parley(["--version"], { program: mainFile(), cwd: folder.path() });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^parley \d/) as string });
  });
});
