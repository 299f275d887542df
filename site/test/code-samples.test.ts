import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { codeSamples, getSample } from "../src/try/code-samples.ts";
import { isObject } from "../src/try/schema.ts";
import type { JsonObject } from "../src/try/schema.ts";
import { tryData } from "../src/try/try-data.ts";
import { kinds, missingFor } from "../../docs/examples/samples.ts";
import { sources } from "./built-site.ts";

/** The programs of "Try it" run against a real server, and send the request that they were made from. */

const run = promisify(execFile);
const { examples } = tryData(sources.contract);
// The client is used as it is in the tree, because its build may be missing.
const client = join(dirname(createRequire(import.meta.url).resolve("@parley/client/package.json")), "src/index.ts");

const pythonKind = kinds.find(({ label }) => label === "Python · httpx");
const missingPython = pythonKind === undefined ? "Python" : missingFor(pythonKind);

let server: TestServer;
let recorder: Server;
let folder: string;
/** The bodies that programs have sent. */
let sent: JsonObject[] = [];

/** Passes requests on to the server, and keeps their bodies. */
const record = (): Server =>
  createServer((req, res) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part as Buffer); // a stream of bytes
      const body = Buffer.concat(parts).toString();
      sent.push(JSON.parse(body) as JsonObject); // every program sends an object
      const headers = { authorization: `Bearer ${testKey}`, "content-type": "application/json" };
      const answer = await fetch(server.origin + (req.url ?? ""), { method: "POST", headers, body });
      res.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      res.end(Buffer.from(await answer.arrayBuffer()));
    })();
  }).listen(0, "127.0.0.1");

beforeAll(async () => {
  server = await startTestServer();
  recorder = record();
  await new Promise((resolve) => recorder.once("listening", resolve));
  // Below the packages of the site, so programs find the libraries.
  folder = mkdtempSync(join(import.meta.dirname, "../node_modules/.samples-"));
});
afterAll(async () => {
  recorder?.close();
  rmSync(folder, { recursive: true, force: true });
  await server?.[Symbol.asyncDispose]();
});

const given = examples.filter(({ name }) =>
  ["stream", "sampling", "tools", "tool-result", "json-schema"].includes(name),
);
const labels = codeSamples({}, "").map(({ label }) => label);
const isPython = (label: string): boolean => label.startsWith("Python");

/** The reason why the packages for Python are missing. */
let trouble: unknown;
/** Pip installs them once for each machine. */
beforeAll(async () => {
  await pythonKind?.prepare?.(folder).catch((error: unknown) => (trouble = error));
}, 300_000);

/** The command that runs a program of a label. */
function commandFor(label: string, file: string): readonly [program: string, ...args: string[]] {
  if (label === "curl") return ["bash", "-eu", file];
  return (isPython(label) ? pythonKind?.command(file, folder) : undefined) ?? [process.execPath, file];
}

test.for(given.flatMap(({ name, request }) => labels.map((label) => [name, label, request] as const)))(
  "the example %s as %s",
  { timeout: 60_000 },
  async ([name, label, request], context) => {
    context.skip(isPython(label) && missingPython !== "", `it would run with ${missingPython} installed`);
    context.skip(isPython(label) && trouble !== undefined, `it would run with access to PyPI: ${String(trouble)}`);
    // The page writes the body as it was typed.
    const code = codeSamples(request, JSON.stringify(request)).find((one) => one.label === label)?.code ?? "";
    const file = join(folder, `${name}-${labels.indexOf(label)}.mjs`);
    writeFileSync(file, code.replace('"@parley/client"', JSON.stringify(pathToFileURL(client).href)));
    const [program, ...args] = commandFor(label, file);
    sent = [];
    const { port } = recorder.address() as AddressInfo; // it listens on a port
    const env = { ...process.env, PARLEY_URL: `http://127.0.0.1:${port}/v1`, PARLEY_KEY: testKey };
    const { stdout } = await run(program, args, { env, timeout: 50_000 });
    expect(stdout.length).toBeGreaterThan(5);
    const { stream: _, stream_options: __, messages, max_completion_tokens: max, ...rest } = request;
    // The AI SDK writes the older name of the maximum.
    if (max !== undefined) rest[label === "Vercel AI SDK" ? "max_tokens" : "max_completion_tokens"] = max;
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject(rest);
    const roles = (list: unknown): unknown[] =>
      Array.isArray(list) ? list.map((message) => (isObject(message) ? message["role"] : "")) : [];
    expect(roles(sent[0]?.["messages"])).toEqual(roles(messages));
  },
);

test.each(["/v1/models", "/v1/models/vendor/model-1"])("the command for %s", async (path) => {
  const env = { ...process.env, PARLEY_URL: server.baseUrl, PARLEY_KEY: testKey };
  const { stdout } = await run("bash", ["-euc", getSample(path).code], { env, timeout: 50_000 });
  expect(JSON.parse(stdout)).toMatchObject(path === "/v1/models" ? { object: "list" } : { id: "vendor/model-1" });
});
