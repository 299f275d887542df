import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { buildDist, packageDir, root } from "./build-dist.ts";

const run = promisify(execFile);
const folder = join(packageDir, "examples");

let server: TestServer;
beforeAll(async () => {
  [server] = await Promise.all([startTestServer(), buildDist()]);
});
afterAll(() => server[Symbol.asyncDispose]());

/** The output of each example with the scripted engine, which repeats the user's message. */
const printed: readonly (readonly [file: string, output: RegExp])[] = [
  ["create.ts", /^You said: What is a reentrancy attack\?\n\d+ tokens, 0\.0\d+ US dollars\n$/],
  ["stream.ts", /^You said: What is a reentrancy attack\?$/],
  [
    "tools.ts",
    /^The tool says "\{\\"chain\\":\\"(ethereum|polygon)\\",\\"gwei\\":12\}"\.\nYou said: What does gas cost on Ethereum\?\n$/,
  ],
  ["structured-output.ts", /^(low|high) \[\]\n$/],
  ["responses.ts", /^req_\w+: stop\n\d+ further requests now\nreq_\w+: You said: What is a reentrancy attack\?\n$/],
  [
    "errors.ts",
    /^You said: What is a reentrancy attack\?model_not_found: .+ \(request req_\w+\)\nShorten it: \d+ of 32768 tokens\.\n$/,
  ],
  ["reasoning.ts", /^Reasoning: The caller asks something\.\nYou said: What is a reentrancy attack\?\n$/],
  ["usage.ts", /^You said: What is a reentrancy attack\?\n\d+ \+ \d+ tokens, 0\.0\d+ US dollars\n$/],
  ["models.ts", /^vendor\/model-1: ready\nvendor\/model-1-mini: ready\n$/],
  ["model.ts", /^vendor\/model-1: \d+ tokens, \$0\.0\d+ a prompt token\n$/],
  ["key.ts", /^\d+ of 10000 requests left\n$/],
  ["repeat.ts", /^You said: What is a reentrancy attack\?\n$/],
  ["receipt.ts", /^complete: 0\.0\d+ US dollars\n$/],
  ["cancel.ts", /^You said: What.*\nThe user has left\.\nNo answer within 1 milliseconds\.\n$/],
];

test.each(printed)("%s runs as it is shown", async (file, output) => {
  const env = { ...process.env, PARLEY_URL: server.baseUrl, PARLEY_KEY: testKey };
  const { stdout, stderr } = await run(process.execPath, [join(folder, file)], { env });
  expect(stdout).toMatch(output);
  expect(stderr).toBe("");
});

test("every example is run", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  expect(files.toSorted()).toEqual(printed.map(([file]) => file).toSorted());
});

test("the examples have the types of the compiled package", async () => {
  const check = run(join(root, "node_modules/.bin/tsc"), ["-p", folder]);
  await expect(check).resolves.toEqual({ stdout: "", stderr: "" });
});
