import { describe, expect, test } from "vitest";
import { chunk, done, failure, openChat, prices, replay, say } from "../testing/chat-places.ts";
import { ask as askText, event, refuse } from "../testing/remote-places.ts";
import { ask, askOne, isOfChoice, spell } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";

/**
 * Turns answers of a chat route into the strict stream. The answers were recorded from a real vLLM, or differ from it in one
 * way.
 */

const captured = "vllm-0.32.0-chat";
describe("answers that a vLLM sent", () => {
  test("text, with counters in every event", async () => {
    const { place, engine } = await openChat();
    place.answer = replay("chat-stream-usage-continuous", captured);
    const { choices, events, usage } = await ask(engine, {});
    expect(choices).toMatchObject([{ text: "MEV is the value a", finish: "length" }]);
    expect(usage).toEqual({ promptTokens: 15, completionTokens: 6, cachedTokens: 0, reasoningTokens: 0 });
    const kinds = ["role", "text", "text", "text", "text", "text", "text", "finish"];
    expect(events.filter(isOfChoice).map(({ kind }) => kind)).toEqual(kinds);
  });

  test("text that a stop string cuts again, after empty events, and without counters", async () => {
    const { place, engine } = await openChat();
    place.answer = replay("chat-stop-stream", captured);
    const { text, finish, usage } = await askOne(engine, { stop: [" builder can"] });
    expect([text, finish]).toEqual(["MEV is the value a block", "stop"]);
    // The tokens, by the tokenizer: MEV, is, the, value, a, block.
    expect(usage.completionTokens).toBe(6);
  });

  test("log-probabilities, whose tokens spell the text", async () => {
    const { place, engine } = await openChat();
    place.answer = replay("chat-logprobs-stream", captured);
    const { text, tokens } = await askOne(engine, { topLogprobs: 1 });
    expect(spell(tokens)).toBe(text);
    expect(tokens[1]).toMatchObject({ token: "EV", bytes: [69, 86], logprob: expect.any(Number) });
    expect(tokens[1]?.top).toHaveLength(1);
  });

  test("a forced call, which it ends with `stop`", async () => {
    const { place, engine } = await openChat();
    place.answer = replay("tool-named-strict-ok-stream", captured);
    const { calls, finish } = await askOne(engine, { ...prices, toolChoice: { oneOf: ["get_price"] } });
    expect(finish).toBe("tool_calls");
    expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ["get_price", { symbol: "ETH" }],
    ]);
  });

  test("a call that the model chooses to make", async () => {
    const { place, engine } = await openChat();
    place.answer = replay("tool-auto-stream", captured);
    const { calls, finish, text, usage } = await askOne(engine, prices);
    const call = { name: "get_price", arguments: '{"symbol": "ETH"}' };
    expect({ calls, finish, text }).toEqual({ calls: [call], finish: "tool_calls", text: "" });
    expect(usage).toMatchObject({ promptTokens: 95, completionTokens: 20 });
  });

  test.each(["reasoning", "reasoning-content"])("a thought: %s", async (capture) => {
    const { place, engine } = await openChat();
    place.answer = replay(capture, captured);
    const { reasoning, text, finish, usage } = await askOne(engine, { isReasoning: true });
    expect([reasoning, finish]).toEqual(["The user asks about MEV.", "stop"]);
    expect(text).toMatch(/^MEV means maximal extractable value, .*\.$/);
    expect(usage.reasoningTokens).toBe(9);
  });

  test.each([
    ["before its arguments", "tool-auto-cut-stream", { name: "get_price", arguments: "" }],
    ["before its arguments, though it was forced", "tool-named-stream", { name: "get_price", arguments: "" }],
    ["within its arguments", "tool-required-stream", { name: "get_gas", arguments: "2" }],
  ])("a call that was cut %s", async (_title, capture, call) => {
    const { place, engine } = await openChat();
    place.answer = replay(capture, captured);
    const { calls, finish, text } = await askOne(engine, prices);
    expect({ calls, finish, text }).toEqual({ calls: [call], finish: "length", text: "" });
  });

  test.each([
    ["`abort`", "sigterm-timeout0-stream", 'the engine ended a stream with "abort"'],
    ["an error event", "sigkill-enginecore-stream", "the engine failed in the middle of a stream"],
  ])("%s and [DONE] are a failure", async (_title, capture, message) => {
    const { place, engine } = await openChat();
    place.answer = replay(capture, "vllm-0.32.0");
    expect(await failure(askOne(engine, {}))).toEqual(["crashed", message]);
  });
});

describe("no clean end", () => {
  const begun = chunk({ role: "assistant", content: "" }) + chunk({ content: "ab" });
  test.each<[string, string, Ask, string]>([
    ["[DONE] without a finish", begun + done, {}, "crashed"],
    ["an end without [DONE] or a finish", begun, {}, "crashed"],
    ["a finish that nobody knows", begun + chunk({}, "error") + done, {}, "crashed"],
    ["an error that is a word", begun + event({ error: "overloaded" }) + done, {}, "crashed"],
    ["HTML in an event", `${begun}data: <html>\n\n`, {}, "protocol"],
    ["a whole answer where a stream was asked for", '{"choices": []}', {}, "crashed"],
    ["text after the finish", begun + chunk({}, "stop") + chunk({ content: "c" }) + done, {}, "protocol"],
    ["no JSON where JSON was asked for", begun + chunk({}, "stop"), { format: { type: "json_object" } }, "protocol"],
    [
      "other JSON than was asked for",
      chunk({ content: '{"a": 1}' }, "stop"),
      { format: { type: "json_schema", schema: { type: "object", properties: { a: { type: "string" } } } } },
      "protocol",
    ],
    [
      "text where a call was required",
      begun + chunk({}, "stop"),
      { ...prices, toolChoice: { oneOf: ["get_gas"] } },
      "protocol",
    ],
    ["the end of a call that was not made", begun + chunk({}, "tool_calls"), prices, "protocol"],
    ["a call as text", chunk({ content: '<tool_call>\n{"name"' }) + chunk({}, "stop"), prices, "protocol"],
  ])("%s", async (_title, body, members, kind) => {
    const { place, engine } = await openChat();
    place.answer = say(body);
    expect(await failure(askOne(engine, members))).toEqual([kind, expect.any(String)]);
  });

  test("a connection that breaks", async () => {
    const { place, engine } = await openChat();
    place.answer = (response) => void response.write(begun, () => response.destroy());
    expect(await askText(engine)).toBe("ab(crashed)");
  });

  test.each([
    ["a word", 400, '{"error": "no"}', "rejected"],
    ["JSON of another form", 422, '{"detail": [{"msg": "no"}]}', "rejected"],
    ["HTML", 500, "<html>Oops</html>", "crashed"],
    ["our key is not known", 401, '{"error": "Unauthorized"}', "unavailable"],
  ])("a refusal: %s", async (_title, status, body, kind) => {
    const { place, engine } = await openChat();
    place.answer = refuse(status, body);
    expect(await askText(engine)).toBe(`(${kind})`);
  });
});

describe("a thought", () => {
  test.each(["reasoning", "reasoning_content"])(
    "is read as `%s`, without the line breaks around it",
    async (member) => {
      const { place, engine } = await openChat();
      const thought = chunk({ [member]: "\nI thi" }) + chunk({ [member]: "nk.\n", content: null });
      place.answer = say(thought + chunk({ content: "\n\nYes" }) + chunk({}, "stop") + done);
      const { reasoning, text, finish, usage } = await askOne(engine, { isReasoning: true });
      expect({ reasoning, text, finish }).toEqual({ reasoning: "I think.", text: "Yes", finish: "stop" });
      expect(usage.reasoningTokens).toBeGreaterThan(0);
      expect(usage.completionTokens).toBeGreaterThan(usage.reasoningTokens);
    },
  );
});

describe("calls", () => {
  const call = (index: number | undefined, id: string | undefined, name: string | undefined, text: string): object => ({
    tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }],
  });

  test.each([
    [
      "with a name that is repeated, empty",
      [call(0, "a", "get_gas", ""), call(0, "a", "", "{"), call(0, "a", "", "}")],
      1,
    ],
    [
      "two, in parts",
      [call(0, "a", "get_gas", "{"), call(0, undefined, undefined, "}"), call(1, "b", "get_gas", "{}")],
      2,
    ],
    ["two that nobody numbers", [call(undefined, "a", "get_gas", "{}"), call(undefined, "b", "get_gas", "{}")], 2],
    ["without arguments", [call(0, "a", "get_gas", "")], 1],
    ["numbered from 1", [call(1, "a", "get_gas", "{}"), call(2, "b", "get_gas", "{}")], 2],
  ])("%s", async (_title, deltas, count) => {
    const { place, engine } = await openChat();
    place.answer = say(deltas.map((delta) => chunk(delta)).join("") + chunk({}, "tool_calls") + done);
    const { calls, finish } = await askOne(engine, prices);
    expect(calls).toEqual(Array.from({ length: count }, () => ({ name: "get_gas", arguments: "{}" })));
    expect(finish).toBe("tool_calls");
  });

  test("one more than is allowed ends the answer", async () => {
    const { place, engine } = await openChat();
    place.answer = say(chunk(call(0, "a", "get_gas", "{}")) + chunk(call(1, "b", "get_gas", "{}")));
    const { calls, finish } = await askOne(engine, { ...prices, parallelToolCalls: false });
    expect([calls.length, finish]).toEqual([1, "tool_calls"]);
  });

  test.each([
    ["to a function that was not offered", call(0, "a", "rm", "{}"), prices],
    [
      "with arguments though it takes none",
      call(0, "a", "get_gas", '{"a": 1}'),
      { ...prices, toolChoice: { oneOf: ["get_gas"] } },
    ],
    [
      "with arguments that its schema does not allow",
      call(0, "a", "get_price", '{"symbol": "X"}'),
      { ...prices, toolChoice: { oneOf: ["get_price"] } },
    ],
  ])("%s are a failure", async (_title, delta, members) => {
    const { place, engine } = await openChat();
    place.answer = say(chunk(delta) + chunk({}, "tool_calls") + done);
    expect(await failure(askOne(engine, members))).toEqual(["protocol", expect.any(String)]);
  });
});
