import { array, assert, integer, oneof, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { readCapture } from "../../../testing/captures.ts";
import { EventReader } from "../../wire/event-reader.ts";
import { readTextChunk } from "./read-text-chunk.ts";

const head = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795230934,"model":"vendor/model-1"';
const rest = '"logprobs":null,"finish_reason":null,"token_ids":null';
const event = (delta: string, more = ""): string =>
  `{${head},"choices":[{"index":0,"delta":{${delta}},${rest}}]${more}}`;
const counters =
  ',"usage":{"prompt_tokens":15,"total_tokens":17,"completion_tokens":2,"completion_tokens_details":null}';

describe("reads what a parser reads", () => {
  test.each([
    ["a text", event('"content":" the"')],
    ["reasoning", event('"reasoning":"Hm"')],
    ["counters", event('"content":"EV"', counters)],
    ["other alphabets", event('"content":"以太坊 🦊"')],
  ])("%s", (_, data) => {
    const read = readTextChunk(data);
    expect(read).toBeDefined();
    expect(JSON.parse(data)).toMatchObject(read ?? {});
  });

  test("the events that a vLLM sent, except the first and the last ones", () => {
    const { body } = readCapture("chat-stream-usage-continuous", "vllm-0.32.0-chat");
    const events = new EventReader().push(Buffer.from(body)).slice(1, -3);
    expect(events.length).toBeGreaterThan(3);
    for (const data of events) {
      const read = readTextChunk(data);
      expect(read).toBeDefined();
      expect(JSON.parse(data)).toMatchObject(read ?? {});
    }
  });

  test("any text", () => {
    const text = oneof(
      string({ unit: "binary" }),
      array(string({ unit: "binary-ascii" })).map((all) => all.join('"},')),
    );
    assert(
      property(text, integer({ min: 0 }), (content, completion_tokens) => {
        const usage = { prompt_tokens: 1, total_tokens: completion_tokens + 1, completion_tokens };
        const data = event(`"content":${JSON.stringify(content)}`, `,"usage":${JSON.stringify(usage)}`);
        expect(JSON.parse(data)).toMatchObject(readTextChunk(data) ?? {});
      }),
    );
  });
});

test.each([
  ["an escape", event(String.raw`"content":"\n"`)],
  ["a control character, which JSON does not allow", event('"content":"\n"')],
  ["a role", event('"role":"assistant","content":""')],
  ["a call", event('"tool_calls":[]')],
  ["an end", event('"content":"."').replace('"finish_reason":null', '"finish_reason":"stop"')],
  ["log-probabilities", event('"content":"."').replace('"logprobs":null', '"logprobs":{"content":[]}')],
  ["more counters", event('"content":"."', counters.replace("null", '{"reasoning_tokens":1}'))],
  ["something behind it", `${event('"content":"."')}}`],
])("leaves %s to the parser", (_, data) => {
  expect(readTextChunk(data)).toBeUndefined();
});
