import { execFile, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { packageDir } from "./build-dist.ts";
import { bundleProbe } from "./bundle.ts";
import { packPackage, readCatalog } from "./pack.ts";
import type { PackedPackage } from "./pack.ts";
import { readAborted, scenarios } from "./scenarios.ts";

/** Runs the same probe against the same server in every runtime on this machine. */

const run = promisify(execFile);

let server: TestServer;
let packed: PackedPackage;
beforeAll(async () => {
  [server, packed] = await Promise.all([startTestServer({ scenarios }), packPackage()]);
  writeFileSync(
    join(packed.projectDir, "main.js"),
    `import * as client from "@parley/client";
import { probe } from ${JSON.stringify(join(packageDir, "test/probe.mjs"))};
const [baseURL, apiKey] = process.argv.slice(2);
console.log(JSON.stringify(await probe(client, baseURL, apiKey)));
`,
  );
});
afterAll(async () => {
  packed[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** The findings of the probe when everything works. Three of its generations were stopped: one failed, two were left. */
async function assertWorks(run: () => Promise<unknown>, isBrowser = false): Promise<void> {
  const before = await readAborted(server);
  expect(await run()).toEqual({
    models: 2,
    plain: "You said: Hello",
    streamed: "You said: Zürich 🜁 汉",
    pieces: 3,
    refused: true,
    cut: 3,
    late: true,
    aborted: "enough",
    unreachable: "connection_error",
    isRefusedHere: isBrowser,
  });
  await until(
    () => readAborted(server),
    (count) => count === before + 3,
    1000,
  );
}

/** Finds a program: the one that the variable names, or else the first of these names on the path. */
function find(variable: string, ...names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env[variable] ?? "", ...candidates].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    if (path !== "") accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}

async function runProgram(program: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(program, [...args, server.baseUrl, testKey], { cwd: packed.projectDir });
  return JSON.parse(stdout);
}

test("works in this Node", () => assertWorks(() => runProgram(process.execPath, "main.js")));

test("works in Node 20", async ({ skip }) => {
  const versions = await Promise.all(
    [
      process.env["PARLEY_NODE_20"],
      ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node")),
    ]
      .filter((path) => path !== undefined && isExecutable(path))
      .map(async (path = "") => ({ path, version: (await run(path, ["--version"])).stdout })),
  );
  const node = versions.find(({ version }) => version.startsWith("v20."))?.path;
  if (node === undefined) skip("there is no Node 20 on this machine; put one on the PATH or name it in PARLEY_NODE_20");
  else await assertWorks(() => runProgram(node, "main.js"));
});

/** npm downloads them on first use and caches them. */
const catalog = readCatalog();
test.each([
  ["bun", ["run", "main.js"]],
  ["deno", ["run", "--node-modules-dir=manual", "--allow-net", "--allow-read", "main.js"]],
] as const)("works in %s", async (name, args) => {
  await assertWorks(() => runProgram("npx", "--yes", `${name}@${catalog[name]}`, ...args));
});

test("works with only the globals of the web, as in an edge worker", async () => {
  const web = {
    AbortController,
    AbortSignal,
    FormData,
    Headers,
    Response,
    TextDecoder,
    URLSearchParams,
    clearTimeout,
    fetch,
    performance,
    setTimeout,
  };
  const context = createContext(web);
  runInContext(await bundleProbe("iife"), context);
  await assertWorks(async () => {
    const result: unknown = await runInContext("program.run", context)(server.baseUrl, testKey);
    return JSON.parse(JSON.stringify(result)); // an object of another realm never equals one of this realm
  });
});

test("works in a browser, in its page and in a worker, across origins", { timeout: 60_000 }, async ({ skip }) => {
  const chromium = find("PARLEY_CHROMIUM", "chromium", "chromium-browser", "google-chrome", "chrome");
  if (chromium === undefined) {
    skip("there is no Chromium on this machine; put one on the PATH or name it in PARLEY_CHROMIUM");
    return;
  }
  for (const place of ["page", "worker"] as const) await assertWorks(() => runInBrowser(chromium, place), true);
});

/** Serves a page that runs the probe and posts its findings. */
async function runInBrowser(chromium: string, place: "page" | "worker"): Promise<unknown> {
  const call = `run(${JSON.stringify(server.baseUrl)}, ${JSON.stringify(testKey)})`;
  const report = `.catch(String).then((found) => fetch("/found", { method: "POST", body: JSON.stringify(found) }))`;
  const script = `import { run } from "/probe.js"; ${call}${report};`;
  const starter = place === "page" ? script : `new Worker("/main.js", { type: "module" });`;
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    "/": ["text/html", `<!doctype html><script type="module">${starter}</script>`],
    "/main.js": ["text/javascript", script],
    "/probe.js": ["text/javascript", await bundleProbe("es")],
  };
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => reject(new Error("the page has reported nothing in 50 seconds")), 50_000);
  const site = createServer((request, response) => {
    const [type, body] = files[request.url ?? ""] ?? ["text/plain", ""];
    response.setHeader("content-type", type).end(body);
    if (request.url === "/found") void text(request).then((found) => resolve(JSON.parse(found)));
  });
  await new Promise<void>((listening) => void site.listen(0, "127.0.0.1", listening));
  const profile = mkdtempSync(join(tmpdir(), "parley-browser-"));
  const { port } = site.address() as AddressInfo; // it listens on a port, not on a path
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    `--user-data-dir=${profile}`,
  ];
  const browser = spawn(chromium, [...flags, `http://127.0.0.1:${port}/`], { stdio: "ignore" });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await ended;
    site.closeAllConnections();
    site.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
