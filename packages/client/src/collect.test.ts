import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { IncompleteStreamError } from "./errors.ts";
import { collect } from "./collect.ts";
import type { ChatCompletionChunk, ChunkChoice } from "./types.ts";

const readExample = (name: string): ChatCompletionChunk[] =>
  readFileSync(new URL(`../../../openapi/examples/${name}.sse`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as ChatCompletionChunk); // a test of the contract checks it

const head = {
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "vendor/model-1",
  system_fingerprint: "fp_1",
} as const;

const chunk = (choice: Partial<ChunkChoice>): ChatCompletionChunk => ({
  ...head,
  choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }],
});

test("joins the text, and keeps id, time, model and fingerprint", async () => {
  const chunks = readExample("stream-plain");
  const { choices, object, ...rest } = await collect(chunks);
  const text = chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join("");
  expect(object).toBe("chat.completion");
  expect(choices).toEqual([
    { index: 0, message: { role: "assistant", content: text, refusal: null }, logprobs: null, finish_reason: "stop" },
  ]);
  const { id, created, model, system_fingerprint } = chunks[0] ?? head;
  expect(rest).toEqual({ id, created, model, system_fingerprint });
});

test("takes an asynchronous source, and throws its error", async () => {
  async function* source(): AsyncGenerator<ChatCompletionChunk> {
    yield* readExample("stream-plain");
    throw new Error("the line is dead");
  }
  await expect(collect(source())).rejects.toThrow("the line is dead");
});

test("has the usage if the request asked for it", async () => {
  expect((await collect(readExample("stream-usage"))).usage).toMatchObject({ total_tokens: 25, cost_usd: "0.0000102" });
  expect(await collect(readExample("stream-plain"))).not.toHaveProperty("usage");
});

test("keeps choices apart, in the order of their index", async () => {
  const { choices } = await collect([
    chunk({ index: 1, delta: { role: "assistant", content: "" } }),
    chunk({ index: 0, delta: { content: "a" } }),
    chunk({ index: 1, delta: { content: "b" } }),
    chunk({ index: 0, finish_reason: "stop" }),
    chunk({ index: 1, finish_reason: "length" }),
  ]);
  expect(choices.map(({ index, message, finish_reason }) => [index, message.content, finish_reason])).toEqual([
    [0, "a", "stop"],
    [1, "b", "length"],
  ]);
  expect((await collect(readExample("stream-choices"))).choices.length).toBeGreaterThan(1);
});

test("joins the parts of tool calls, and sets content to null", async () => {
  const { message } = (await collect(readExample("stream-tools"))).choices[0] ?? {};
  expect(message?.content).toBeNull();
  for (const call of message?.tool_calls ?? []) expect(JSON.parse(call.function.arguments)).toBeTypeOf("object");
  const parts = await collect([
    chunk({ delta: { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }] } }),
    chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] } }),
    chunk({
      delta: { tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" } }] },
    }),
    chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] } }),
    chunk({ finish_reason: "tool_calls" }),
  ]);
  expect(parts.choices[0]?.message.tool_calls).toEqual([
    { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
    { id: "b", type: "function", function: { name: "g", arguments: "{}" } },
  ]);
});

test("returns reasoning under both names, and joins log-probabilities", async () => {
  const thought = (await collect(readExample("stream-reasoning"))).choices[0]?.message;
  expect(thought?.reasoning).toBeTruthy();
  expect(thought?.reasoning_content).toBe(thought?.reasoning);
  const chunks = readExample("stream-logprobs");
  const tokens = chunks.flatMap(({ choices: [choice] }) => choice?.logprobs?.content ?? []);
  expect(tokens.length).toBeGreaterThan(1);
  expect((await collect(chunks)).choices[0]?.logprobs).toEqual({ content: tokens });
});

test.each([
  ["nothing came", []],
  ["a choice is not finished", readExample("stream-plain").slice(0, -1)],
  ["a choice is missing", [chunk({ index: 1, finish_reason: "stop" })]],
])("throws what came when %s", async (_title, chunks) => {
  const error = await collect(chunks).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(IncompleteStreamError);
  expect(error).toHaveProperty("chunks", chunks);
});
