import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { builtSite } from "@parley/site";

/** The files that the server offers to partners' tools, run by these tools against a server. */

const root = join(import.meta.dirname, "../..");
const folder = await builtSite();
const offered = (name: string): string => join(folder, name);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** The output and the exit code of a program of the development packages. */
function run(program: string, ...args: readonly string[]): Promise<{ exitCode: unknown; output: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile(join(root, "node_modules/.bin", program), args, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ exitCode: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}

const plainOutput = ["--reporters", "cli", "--reporter-cli-no-banner", "--color", "off", "--disable-unicode"];

const runCollection = (key: string) => {
  const variables = [`base_url=${server.origin}`, `key=${key}`].flatMap((one) => ["--env-var", one]);
  return run("newman", "run", offered("parley.postman_collection.json"), ...variables, ...plainOutput);
};

test("the Postman collection runs, and its tests pass for every request", async () => {
  const { exitCode, output } = await runCollection(testKey);
  expect([exitCode, output]).toEqual([0, expect.stringMatching(/assertions *\| *18 *\| *0/)]);
});

test("the Postman collection fails with a key that the server does not know", async () => {
  expect(await runCollection("another-key-0123456789")).toMatchObject({ exitCode: 1 });
});

const runWorkflows = (key: string) =>
  run("redocly", "respect", offered("workflows.arazzo.yaml"), "-S", `parley=${server.origin}`, "-i", `key=${key}`);

test("the workflows run: a round trip with a tool, and a stream", async () => {
  const { exitCode, output } = await runWorkflows(testKey);
  expect([exitCode, output]).toEqual([0, expect.stringContaining("Workflows: 2 passed, 2 total")]);
});

test("the workflows fail with a key that the server does not know", async () => {
  expect(await runWorkflows("another-key-0123456789")).toMatchObject({ exitCode: 1 });
});
