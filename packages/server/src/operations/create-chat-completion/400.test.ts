import { describe, expect, test } from "vitest";
import { modelId, say } from "@parley/server/testing";
import { assertRefused } from "../../../test/refused.ts";
import { useServer } from "../../../test/use-server.ts";

type Members = Readonly<Record<string, unknown>>;

// Titles carry the clauses that a case shows; every refusal is also shown to be the same streamed (ERR-07, STRM-27).

const server = useServer();
const text = (length: number): string => "a".repeat(length);
const names = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, ""]));

describe("a member that is missing", () => {
  test.each([
    ["REQ-01 model", { model: undefined }, "model"],
    ["REQ-01 messages", { messages: undefined }, "messages"],
    ["REQ-01 ERR-10 the kind of a response format", { response_format: {} }, "response_format.type"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "missing_required_parameter", param });
  });
});

describe("REQ-03 a member of the wrong type", () => {
  test.each([
    ["REQ-02 model is null", { model: null }, "model"],
    ["REQ-02 messages is null", { messages: null }, "messages"],
    ["model is a number", { model: 1 }, "model"],
    ["messages is an object", { messages: {} }, "messages"],
    ["messages is a text", { messages: "Hello" }, "messages"],
    ["REQ-06 max_completion_tokens is a text", { max_completion_tokens: "5" }, "max_completion_tokens"],
    ["REQ-08 max_completion_tokens is a fraction", { max_completion_tokens: 1.5 }, "max_completion_tokens"],
    ["REQ-08 max_tokens is a fraction", { max_tokens: 1.5 }, "max_tokens"],
    ["REQ-06 temperature is a text", { temperature: "0.5" }, "temperature"],
    ["temperature is a boolean", { temperature: true }, "temperature"],
    ["top_p is a text", { top_p: "1" }, "top_p"],
    ["REQ-08 top_k is a fraction", { top_k: 0.5 }, "top_k"],
    ["min_p is a list", { min_p: [0] }, "min_p"],
    ["frequency_penalty is an object", { frequency_penalty: {} }, "frequency_penalty"],
    ["presence_penalty is a text", { presence_penalty: "0" }, "presence_penalty"],
    ["repetition_penalty is a text", { repetition_penalty: "1" }, "repetition_penalty"],
    ["REQ-06 seed is a text", { seed: "7" }, "seed"],
    ["REQ-08 seed is a fraction", { seed: 7.5 }, "seed"],
    ["stop is a number", { stop: 1 }, "stop"],
    ["ERR-10 a stop is a number", { stop: ["a", 1] }, "stop[1]"],
    ["a stop is null", { stop: [null] }, "stop[0]"],
    ["logit_bias is a list", { logit_bias: [] }, "logit_bias"],
    ["ERR-10 a bias is a text", { logit_bias: { "1": 0, "5": "100" } }, "logit_bias.5"],
    ["REQ-06 logprobs is a text", { logprobs: "true" }, "logprobs"],
    ["logprobs is a number", { logprobs: 1 }, "logprobs"],
    ["top_logprobs is a text", { logprobs: true, top_logprobs: "1" }, "top_logprobs"],
    ["n is a text", { n: "2" }, "n"],
    ["REQ-06 stream is a text", { stream: "true" }, "stream"],
    ["stream is a number", { stream: 1 }, "stream"],
    ["stream_options is a boolean", { stream: true, stream_options: true }, "stream_options"],
    ["ERR-09 include_usage is a text", streamed({ include_usage: "yes" }), "stream_options.include_usage"],
    ["tools is an object", { tools: {} }, "tools"],
    ["tool_choice is a number", { tool_choice: 1 }, "tool_choice"],
    ["tool_choice is a list", { tool_choice: ["auto"] }, "tool_choice"],
    ["parallel_tool_calls is a text", { parallel_tool_calls: "no" }, "parallel_tool_calls"],
    ["response_format is a text", { response_format: "json" }, "response_format"],
    ["the kind of a response format is a number", { response_format: { type: 1 } }, "response_format.type"],
    ["reasoning_effort is a number", { reasoning_effort: 1 }, "reasoning_effort"],
    ["user is a number", { user: 1 }, "user"],
    ["metadata is a text", { metadata: "a" }, "metadata"],
    ["a value of metadata is a number", { metadata: { a: 1 } }, "metadata.a"],
    ["store is a text", { store: "no" }, "store"],
    ["service_tier is a number", { service_tier: 1 }, "service_tier"],
    ["safety_identifier is a number", { safety_identifier: 1 }, "safety_identifier"],
    ["prompt_cache_key is a list", { prompt_cache_key: [] }, "prompt_cache_key"],
    ["verbosity is a number", { verbosity: 3 }, "verbosity"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "invalid_type", param });
  });
});

describe("REQ-04 a value outside its bounds", () => {
  test.each([
    ["max_completion_tokens 0", { max_completion_tokens: 0 }, "max_completion_tokens"],
    ["max_completion_tokens below 0", { max_completion_tokens: -1 }, "max_completion_tokens"],
    ["max_tokens 0", { max_tokens: 0 }, "max_tokens"],
    ["max_tokens is checked although the other one holds", { max_completion_tokens: 5, max_tokens: 0 }, "max_tokens"],
    ["temperature below 0", { temperature: -0.001 }, "temperature"],
    ["temperature above 2", { temperature: 2.001 }, "temperature"],
    ["top_p 0", { top_p: 0 }, "top_p"],
    ["top_p above 1", { top_p: 1.001 }, "top_p"],
    ["top_k below 0", { top_k: -1 }, "top_k"],
    ["top_k of 2^31", { top_k: 2_147_483_648 }, "top_k"],
    ["min_p below 0", { min_p: -0.001 }, "min_p"],
    ["min_p above 1", { min_p: 1.001 }, "min_p"],
    ["frequency_penalty below -2", { frequency_penalty: -2.001 }, "frequency_penalty"],
    ["frequency_penalty above 2", { frequency_penalty: 2.001 }, "frequency_penalty"],
    ["presence_penalty below -2", { presence_penalty: -2.001 }, "presence_penalty"],
    ["presence_penalty above 2", { presence_penalty: 2.001 }, "presence_penalty"],
    ["repetition_penalty 0", { repetition_penalty: 0 }, "repetition_penalty"],
    ["repetition_penalty above 2", { repetition_penalty: 2.001 }, "repetition_penalty"],
    ["REQ-33 an empty stop", { stop: "" }, "stop"],
    ["REQ-33 no stop in the list", { stop: [] }, "stop"],
    ["REQ-33 an empty stop in the list", { stop: ["a", ""] }, "stop[1]"],
    ["REQ-33 five stops", { stop: ["a", "b", "c", "d", "e"] }, "stop"],
    ["SAMP-11 a bias for a word", { logit_bias: { abc: 1 } }, "logit_bias"],
    ["SAMP-11 a bias for a negative id", { logit_bias: { "-1": 1 } }, "logit_bias"],
    ["a bias above 100", { logit_bias: { "5": 100.5 } }, "logit_bias.5"],
    ["a bias below -100", { logit_bias: { "5": -101 } }, "logit_bias.5"],
    ["LOGP-07 top_logprobs 21", { logprobs: true, top_logprobs: 21 }, "top_logprobs"],
    ["top_logprobs below 0", { logprobs: true, top_logprobs: -1 }, "top_logprobs"],
    ["n 0", { n: 0 }, "n"],
    ["n 9", { n: 9 }, "n"],
    ["an unknown reasoning_effort", { reasoning_effort: "extreme" }, "reasoning_effort"],
    ["REQ-31 17 pairs of metadata", { metadata: names(17) }, "metadata"],
    ["REQ-31 a name of 65 characters", { metadata: { [text(65)]: "" } }, "metadata"],
    ["REQ-31 a value of 513 characters", { metadata: { a: text(513) } }, "metadata.a"],
    ["REQ-32 513 astral characters", { metadata: { a: "🜂".repeat(513) } }, "metadata.a"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "invalid_value", param });
  });
});

describe("a member that needs another one", () => {
  test.each([
    ["REQ-23 top_logprobs without logprobs", { top_logprobs: 1 }, "top_logprobs"],
    ["REQ-23 top_logprobs 0 without logprobs", { top_logprobs: 0 }, "top_logprobs"],
    ["REQ-23 top_logprobs with logprobs false", { logprobs: false, top_logprobs: 1 }, "top_logprobs"],
    ["REQ-24 stream_options without stream", { stream: undefined, stream_options: {} }, "stream_options"],
    ["REQ-24 stream_options with stream false", { stream: false, stream_options: {} }, "stream_options"],
    ["REQ-24 stream_options with stream null", { stream: null, stream_options: {} }, "stream_options"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "invalid_value", param });
  });
});

describe("REQ-21 a member that is not supported", () => {
  test.each([
    ["functions", { functions: [] }, "functions"],
    ["functions of any type", { functions: 1 }, "functions"],
    ["function_call", { function_call: "auto" }, "function_call"],
    ["audio", { audio: { voice: "a" } }, "audio"],
    ["prediction", { prediction: { type: "content", content: "a" } }, "prediction"],
    ["web_search_options", { web_search_options: {} }, "web_search_options"],
    ["modalities with audio", { modalities: ["text", "audio"] }, "modalities"],
    ["modalities that are empty", { modalities: [] }, "modalities"],
    ["modalities of any type", { modalities: "text" }, "modalities"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "unsupported_parameter", param });
  });
});

describe("a seed", () => {
  const withSeed = (digits: string) => ({
    body: `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], "seed": ${digits}}`,
  });

  test.each([
    ["REQ-27 2^63", "9223372036854775808", "invalid_value"],
    ["REQ-27 2^63 and more", `9${"0".repeat(40)}`, "invalid_value"],
    ["REQ-27 beyond every double", "9".repeat(400), "invalid_value"],
    ["REQ-27 below -2^63", "-9223372036854775809", "invalid_value"],
    ["REQ-29 REQ-07 a whole number with a point", "7.0", "invalid_type"],
    ["REQ-29 an exponent", "1e3", "invalid_type"],
    ["REQ-29 a large exponent", "1E30", "invalid_type"],
    ["REQ-29 an endless number", "1e999", "invalid_type"],
  ])("%s", async (_title, digits, code) => {
    expect(await server().refuse({}, withSeed(digits))).toMatchObject({ status: 400, code, param: "seed" });
  });

  test.each(["1e400", "9".repeat(400)])(
    "REQ-04 a maximum that no double holds is out of its bounds",
    async (number) => {
      const body = `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], "max_tokens": ${number}}`;
      const refusal = await server().refuse({}, { body });
      expect(refusal).toMatchObject({ code: "invalid_value", param: "max_tokens" });
      expect(refusal.message).toContain("must be at most 1.7976931348623157e+308");
    },
  );

  test("HTTP-17 the last spelling counts where it is repeated", async () => {
    expect(await server().refuse({}, withSeed(`7, "seed": 7.0`))).toMatchObject({ param: "seed" });
    expect((await server().chat({}, withSeed(`7.0, "seed": 7`))).status).toBe(200);
  });
});

describe("REQ-19 with x-strict-params", () => {
  const strict = { headers: { "x-strict-params": "true" } };
  const long = "\u{1F984}".repeat(3000);

  test.each([
    ["an unknown member", { mood: "good" }, "mood"],
    ["REQ-13 a member without effect", { store: false }, "store"],
    [
      "REQ-12 an unknown member of a message",
      { messages: [{ role: "user", content: "a", mood: 1 }] },
      "messages[0].mood",
    ],
    ["the first of several", { zeal: 1, mood: 1 }, "zeal"],
  ] satisfies [string, Members, string][])("%s", async (_title, members, param) => {
    await assertRefused(server(), members, { code: "unknown_parameter", param }, strict);
  });

  test.each([
    ["the member above is named", { messages: [{ role: "user", content: "a", [long]: 1 }] }, "messages[0]"],
    ["none is named where there is none above", { [long]: 1 }, null],
  ])(
    "ERR-13 of a path that is too long %s, and the message ends in front of a character",
    async (_title, body, want) => {
      const { message, param } = await server().refuse(body, strict);
      expect(param).toBe(want);
      expect(Array.from(message)).toHaveLength(2000);
      expect(message.isWellFormed()).toBe(true);
    },
  );

  test("REQ-35 a maximum that would be lowered to the model's is refused, with the number that is possible", async () => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const message = await assertRefused(
        server(),
        { [name]: 32_000 },
        { code: "unknown_parameter", param: name },
        strict,
      );
      expect(message).toContain("32000 and would be lowered to 16384");
      expect((await server().chat({ [name]: 16_384 }, strict)).status).toBe(200);
    }
  });

  test("REQ-35 MSG-26 a maximum that would be lowered to what the context leaves is refused", async () => {
    const members = { ...say(text(120_000)), max_tokens: 16_384 };
    await assertRefused(server(), members, { code: "unknown_parameter", param: "max_tokens" }, strict);
    expect((await server().chat({ ...members, max_tokens: 5 }, strict)).status).toBe(200);
  });

  test.each(["TRUE", "True", "tRuE"])("REQ-20 %s is true", async (value) => {
    const refusal = await server().refuse({ mood: 1 }, { headers: { "x-strict-params": value } });
    expect(refusal).toMatchObject({ code: "unknown_parameter" });
  });
});

describe("a prompt that fills the context", () => {
  const long = say(text(140_000));

  test("MSG-23 MSG-24 is refused in words that clients know", async () => {
    const message = await assertRefused(server(), long, { code: "context_length_exceeded", param: "messages" });
    expect(message).toContain("maximum context length is 32768 tokens");
    expect(message).toContain("prompt is too long");
  });

  test("MSG-25 is counted exactly as usage would have counted it", async () => {
    const { usage } = await server().complete({ ...say(text(4)), max_tokens: 1 });
    const { details } = await server().refuse(long);
    // The engine of this test counts four bytes as a token, two quotes included.
    const more = Math.ceil(140_002 / 4) - Math.ceil(6 / 4);
    expect(details).toEqual({
      context_length: 32_768,
      prompt_tokens: usage.prompt_tokens + more,
      max_completion_tokens: 16_384,
    });
    expect((await server().refuse({ ...long, max_tokens: 5 })).details).toMatchObject({ max_completion_tokens: 5 });
  });
});

function streamed(options: Members): Members {
  return { stream: true, stream_options: options };
}
