import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operationsOf, resolveAnswer } from "@parley/contract/document";
import type { Document } from "@parley/contract/document";
import { builtSite } from "@parley/site";
import { exampleCalls } from "./example-calls.ts";
import type { ExampleCall } from "./example-calls.ts";

/** Prism answers with the examples of the contract. It has only the document. */

const root = join(import.meta.dirname, "../..");
const document = join(await builtSite(), "openapi.json");
const contract = JSON.parse(readFileSync(document, "utf8")) as Document; // the tests of the contract check this type
const { components } = contract;

let prism: ChildProcessByStdio<null, Readable, null>;
let origin: string;
beforeAll(async () => {
  prism = spawn(join(root, "node_modules/.bin/prism"), ["mock", document, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: prism.stdout })) {
    origin = /listening on (http:\S+)/.exec(line)?.[1] ?? "";
    if (origin !== "") break;
  }
  prism.stdout.resume(); // nobody reads its log, and a full pipe would stop it
});
afterAll(async () => {
  prism.kill();
  await once(prism, "exit");
});

const send = (call: ExampleCall, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(origin + call.path, {
    method: call.method,
    headers: { authorization: "Bearer any", "content-type": "application/json", ...headers },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  });

const calls = exampleCalls(contract);
/** Each declared status of each operation, with a call of the operation. */
const declared = operationsOf(contract).flatMap(({ operationId, responses }) =>
  Object.entries(responses).map(([status, answer]) => {
    const call = calls.find((one) => one.operationId === operationId);
    const media = resolveAnswer(contract, answer).content?.["application/json"];
    if (!call || !media) throw new Error(`${operationId} ${status} has no call or no JSON`);
    return { operationId, status, call, media };
  }),
);

test.each(declared)("$operationId answers $status with an example of the contract", async ({ status, call, media }) => {
  const response = await send(call, { prefer: `code=${status}` });
  const body: unknown = await response.json();
  expect(response.status).toBe(Number(status));
  expect(Object.values(media.examples).map(({ value }) => value)).toContainEqual(body);
  const judge = new Ajv2020({ strict: false, validateFormats: false }).compile({ ...media.schema, components });
  expect([judge(body), judge.errors]).toEqual([true, null]);
});

const [first] = declared;
if (!first) throw new Error("the contract has no operation");
const { media: answers, call: chat } = first;

test.each(Object.entries(answers.examples))(
  "returns the example %s when the request names it",
  async (name, { value }) => {
    expect(await (await send(chat, { prefer: `example=${name}` })).json()).toEqual(value);
  },
);

test("refuses a request without a key, and a request that does not fit the schema", async () => {
  // Prism prefers a declared 422 to the 400 that the service answers.
  const bare = await fetch(origin + chat.path, { method: "POST" });
  const empty = await send({ ...chat, body: {} });
  expect([bare.status, empty.status]).toEqual([401, 422]);
});
