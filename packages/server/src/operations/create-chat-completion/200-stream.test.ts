import { describe, expect, test } from "vitest";
import { say, textOf } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

// The harness judges every stream by the machine of the contract, which is most of the chapter STRM:
// STRM-03 to STRM-10, STRM-12, STRM-13, STRM-15 to STRM-23, STRM-38, STRM-39 and STRM-41 fail any test below.

const server = useServer({
  scenarios: {
    split: [{ role: true }, { split: true }, { text: "zwölf " }, { text: "🜂𝄞" }, { finish: "stop" }],
    "no-role": [{ text: "a" }, { finish: "stop" }],
    calls: [
      { role: true },
      { reasoning: "I" },
      { text: "look" },
      { tool: { index: 0, name: "f", arguments: '{"a":' } },
      { tool: { index: 0, arguments: "1}" } },
      { tool: { index: 1, name: "g", arguments: "{}" } },
      { finish: "tool_calls" },
    ],
    mixed: [
      { choice: 1, role: true },
      { choice: 0, role: true },
      { choice: 1, text: "b" },
      { choice: 0, text: "a" },
      { choice: 1, finish: "length" },
      { choice: 0, text: "A" },
      { choice: 0, finish: "stop" },
    ],
  },
});

test("STRM-01 STRM-02 HTTP-01 the head of a stream, whatever Accept says", async () => {
  for (const accept of ["application/json", "text/event-stream", "image/png"]) {
    const response = await server().chat({ stream: true }, { headers: { accept } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "transfer-encoding": "chunked",
    });
    await response.text();
  }
});

test("STRM-03 STRM-04 STRM-08 STRM-09 STRM-14 STRM-31 an answer, event by event", async () => {
  const response = await server().chat({ stream: true, ...say("one two") });
  const events = (await response.text()).split("\n\n");
  const deltas = events.slice(0, -2).map((event) => {
    const [prefix, data] = [event.slice(0, 6), JSON.parse(event.slice(6)) as { choices: { delta: unknown }[] }];
    expect(prefix).toBe("data: ");
    return data.choices[0];
  });
  const piece = (delta: object, finish_reason: string | null = null) => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason,
  });
  expect(deltas).toEqual([
    piece({ role: "assistant", content: "" }),
    piece({ content: "You" }),
    piece({ content: " said:" }),
    piece({ content: " one" }),
    piece({ content: " two" }),
    piece({}, "stop"),
  ]);
  expect(events.slice(-2)).toEqual(["data: [DONE]", ""]);
});

test("STRM-17 RESP-01 RESP-04 every event tells the same identity", async () => {
  const streams = await Promise.all([server().stream(), server().stream()]);
  const heads = streams.flatMap(({ chunks }) => chunks.map(({ id, model }) => `${id} ${model}`));
  expect(new Set(heads).size).toBe(2);
});

describe("the counts", () => {
  test("STRM-11 STRM-12 STRM-16 come once, where they are asked for", async () => {
    const { chunks, end } = await server().stream({ stream_options: { include_usage: true } });
    expect(end).toBe("done");
    expect(chunks.filter(({ choices }) => choices.length === 0)).toHaveLength(1);
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 3 });
  });

  test.each([[undefined], [null], [{}], [{ include_usage: false }], [{ include_usage: null }]])(
    "STRM-11 STRM-13 do not come with stream_options %j",
    async (stream_options) => {
      const { chunks } = await server().stream({ stream_options });
      expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
    },
  );

  test.each([
    {},
    { n: 3 },
    { reasoning_effort: "high" },
    { max_tokens: 1 },
    { stop: ["said"] },
    { response_format: { type: "json_object" } },
    { tools: [{ type: "function", function: { name: "f" } }], tool_choice: "required" },
  ])("STRM-35 STRM-36 FMT-14 RESP-11 are those of the answer that is not streamed: %j", async (members) => {
    const plain = await server().complete(members);
    const { chunks } = await server().stream({ ...members, stream_options: { include_usage: true } });
    expect(chunks.at(-1)?.usage).toEqual(plain.usage);
    for (const { index, message } of plain.choices) expect(textOf(chunks, index)).toBe(message.content ?? "");
  });
});

test("STRM-05 STRM-20 STRM-21 STRM-19 reasoning, text and calls come one kind in an event", async () => {
  const { chunks } = await server().stream(say("script:calls"));
  const deltas = chunks.map(({ choices }) => choices[0]?.delta);
  expect(deltas.map((delta) => Object.keys(delta ?? {}).join())).toEqual([
    "role,content",
    "reasoning,reasoning_content",
    "content",
    "tool_calls",
    "tool_calls",
    "tool_calls",
    "",
  ]);
  const calls = deltas.flatMap((delta) => delta?.tool_calls ?? []);
  expect(calls[0]).toMatchObject({ index: 0, type: "function", function: { name: "f", arguments: '{"a":' } });
  expect(calls[1]).toEqual({ index: 0, function: { arguments: "1}" } });
  expect(calls[2]).toMatchObject({ index: 1, type: "function", function: { name: "g", arguments: "{}" } });
  expect(calls[2]?.id).not.toBe(calls[0]?.id);
});

describe("choices", () => {
  test("STRM-06 STRM-39 have events for every index, and for no other", async () => {
    const { chunks } = await server().stream({ n: 4 });
    const indexes = new Set(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)));
    expect(indexes).toEqual(new Set([0, 1, 2, 3]));
  });

  test("STRM-10 STRM-15 may alternate, and end one after the other", async () => {
    const { chunks, end } = await server().stream({ n: 2, ...say("script:mixed") });
    expect(end).toBe("done");
    expect([textOf(chunks, 0), textOf(chunks, 1)]).toEqual(["aA", "b"]);
  });
});

test("STRM-04 the role comes first, also where the engine says none", async () => {
  expect((await server().stream(say("script:no-role"))).text).toBe("a");
});

test("STRM-37 a piece holds whole characters, however the engine's bytes are cut", async () => {
  const { text, chunks } = await server().stream(say("script:split"));
  expect(text).toBe("zwölf 🜂𝄞");
  expect(chunks.every(({ choices }) => choices.every(({ delta }) => (delta.content ?? "").isWellFormed()))).toBe(true);
});

test("SAMP-05 STRM-33 a text of stop never shows, not even in part", async () => {
  const { text, chunks } = await server().stream({ ...say("one two three"), stop: ["one two th"] });
  expect(text).toBe("You said: ");
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  const { text: passed } = await server().stream({ ...say("one two four"), stop: ["one two th"] });
  expect(passed).toBe("You said: one two four");
});

test("LOGP-09 log-probabilities travel with their text", async () => {
  const { chunks } = await server().stream({ ...say("one two"), logprobs: true, top_logprobs: 1 });
  for (const { choices } of chunks) {
    const [choice] = choices;
    const tokens = choice?.logprobs?.content?.map(({ token }) => token).join("") ?? "";
    expect(tokens).toBe(choice?.delta.content ?? "");
  }
});

test("TOOL-01 a forced call ends with tool_calls", async () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const { chunks } = await server().stream({ tools, tool_choice: "required" });
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test("STRM-14 one connection carries one stream after the other", async () => {
  for (let turn = 0; turn < 5; turn += 1) expect((await server().stream()).end).toBe("done");
});
