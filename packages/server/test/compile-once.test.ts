import { schemaCompilations } from "@parley/inference";
import { startTestServer, withKey } from "@parley/server/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { chatWell, openPlace, replay } from "@parley/inference/testing/places";
import { useServer } from "./use-server.ts";

// The drivers of all engines run in this process, so this test sees every schema that they compile. The scripted engine also
// compiles in its own process, because it has to invent an answer that satisfies the schema.

const server = useServer();
let compiled: unknown[] = [];
const note = (schema: unknown): void => void compiled.push(schema);

beforeEach(() => {
  compiled = [];
  schemaCompilations.subscribe(note);
});
afterEach(() => {
  schemaCompilations.unsubscribe(note);
});

const object = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
/** A grammar cannot remember the values of an array, so it cannot enforce `uniqueItems`. */
const unenforceable = (name: string) => ({ type: "object", properties: { [name]: { uniqueItems: true } } });

let requests = 0;

/** Sends a request with schemas that no other request has. */
function ask() {
  const name = `r${(requests += 1)}`;
  const schemas = {
    strict: object(`${name}s`),
    loose: object(`${name}l`),
    free: unenforceable(name),
    answer: object(`${name}a`),
  };
  const tools = [
    { type: "function", function: { name: "strict", parameters: schemas.strict, strict: true } },
    { type: "function", function: { name: "loose", parameters: schemas.loose } },
    { type: "function", function: { name: "free", parameters: schemas.free } },
  ];
  const response_format = { type: "json_schema", json_schema: { name: "answer", schema: schemas.answer } };
  return { schemas, body: { tools, response_format } };
}

test.each([1, 3])(
  "an engine in a child process, %d choices: every schema of the request is compiled once",
  async (n) => {
    const { schemas, body } = ask();
    await server().complete({ ...body, n });
    expect(compiled).toEqual([schemas.strict, schemas.answer, schemas.loose, schemas.free]);
  },
);

test("an engine elsewhere, behind a chat route: every schema of the request is compiled once", async () => {
  const place = await openPlace(chatWell, 0, "/v1/chat/completions");
  place.listed = { owned_by: "vllm" };
  const remote = { urls: [place.url], model: "there", tokenizer: miniFolder, protocol: "chat" } as const;
  await using remoteServer = await startTestServer({
    settings: { models: { "model-1": { engine: "remote", remote } } },
  });
  place.answer = replay("tool-auto-stream", "vllm-0.32.0-chat");
  const { schemas, body } = ask();
  const called = { type: "function", function: { name: "get_price", parameters: object("symbol") } };
  await remoteServer.complete({ tools: [called, ...body.tools], max_completion_tokens: 200 });
  expect(compiled).toEqual([schemas.strict, object("symbol"), schemas.loose, schemas.free]);
});

test("a schema of an earlier request of the same key is not compiled again", async () => {
  const { body } = ask();
  await server().complete(body);
  compiled = [];
  await server().complete(structuredClone(body));
  expect(compiled).toEqual([]);
});

test("another key has a cache of its own", async () => {
  const { schemas, body } = ask();
  await server().complete(body);
  compiled = [];
  await server().complete(body, withKey(await server().makeKey()));
  expect(compiled).toEqual([schemas.strict, schemas.answer, schemas.loose, schemas.free]);
});

test("a request that is refused has compiled its schemas once", async () => {
  const { schemas, body } = ask();
  await server().refuse({ ...body, user: 1 });
  expect(compiled).toEqual([schemas.strict, schemas.answer, schemas.loose, schemas.free]);
});

test("a request that is refused for a schema has compiled it once", async () => {
  const { schemas } = ask();
  const strict = { type: "function", function: { name: "f", parameters: schemas.free, strict: true } };
  await server().refuse({ tools: [strict] });
  expect(compiled).toEqual([schemas.free]);
});
