import { array, assert, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { eventsOf } from "../../../testing/captures.ts";
import { readTokenChunk } from "./read-token-chunk.ts";

const head = '"id":"cmpl-1","object":"text_completion","created":1795275698,"model":"vendor/model-1"';
const event = (text: string, ids: string, more = ""): string =>
  `{${head},"choices":[{"index":0,"text":${text},"logprobs":null,"finish_reason":null,"stop_reason":null,` +
  `"prompt_token_ids":null,"token_ids":${ids}}]${more}}`;

describe("reads what a parser reads", () => {
  test("of any text and tokens", () => {
    const numbers = array(integer({ min: 0, max: 300_000 }), { minLength: 1 });
    assert(
      property(string({ unit: "binary" }), numbers, integer({ min: 0 }), (text, ids, completion_tokens) => {
        const usage = { prompt_tokens: 1, total_tokens: completion_tokens + 1, completion_tokens };
        const data = event(JSON.stringify(text), JSON.stringify(ids), `,"usage":${JSON.stringify(usage)}`);
        const read = readTokenChunk(data);
        expect(read).toBeDefined();
        expect(JSON.parse(data)).toMatchObject(read ?? {});
      }),
    );
  });

  test("of the events that a vLLM sent, except the first and the last two", () => {
    const events = eventsOf("completion").slice(1, -3);
    expect(events.length).toBeGreaterThan(3);
    for (const data of events) {
      const read = readTokenChunk(data);
      expect(read).toBeDefined();
      expect(JSON.parse(data)).toMatchObject(read ?? {});
    }
  });
});

test.each([
  ["no tokens", event('""', "[]")],
  ["an escape that JSON does not know", event(String.raw`"\x"`, "[1]")],
  ["a line break, which JSON does not allow", event('"\n"', "[1]")],
  ["an end", event('"."', "[1]").replace('"finish_reason":null', '"finish_reason":"stop"')],
  ["log-probabilities", event('"."', "[1]").replace('"logprobs":null', '"logprobs":{}')],
])("leaves %s to the parser", (_, data) => {
  expect(readTokenChunk(data)).toBeUndefined();
});
