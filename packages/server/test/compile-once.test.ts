import { schemaCompilations } from "@parley/inference";
import { startTestServer } from "@parley/server/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chatWell, miniFolder, openPlace, replay } from "@parley/inference/testing";
import { useServer } from "./use-server.ts";

// The drivers of every engine run in this process, so that whatever any of them compiles is heard here. Only the scripted
// engine compiles in its own process, too: it has to invent an answer that satisfies the schema.

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
const unenforceable = { type: "object", minProperties: 1 };
const tools = [
  { type: "function", function: { name: "strict", parameters: object("a"), strict: true } },
  { type: "function", function: { name: "loose", parameters: object("b") } },
  { type: "function", function: { name: "free", parameters: unenforceable } },
];
const response_format = { type: "json_schema", json_schema: { name: "answer", schema: object("c") } };

test.each([1, 3])(
  "an engine in a child process, %d choices: every schema of the request is compiled once",
  async (n) => {
    await server().complete({ tools, response_format, n });
    expect(compiled).toEqual([object("a"), object("c"), object("b"), unenforceable]);
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
  const called = { type: "function", function: { name: "get_price", parameters: object("symbol") } };
  await remoteServer.complete({ tools: [called, ...tools], max_completion_tokens: 200 });
  expect(compiled).toEqual([object("a"), object("symbol"), object("b"), unenforceable]);
});

test("a request that is refused for another field compiles what stands before that field, once", async () => {
  await server().refuse({ tools, response_format, user: 1 });
  expect(compiled).toEqual([object("a"), object("c")]);
});

test("a request that is refused for a schema has compiled it once", async () => {
  const strict = { type: "function", function: { name: "f", parameters: unenforceable, strict: true } };
  await server().refuse({ tools: [strict], response_format });
  expect(compiled).toEqual([unenforceable]);
});
