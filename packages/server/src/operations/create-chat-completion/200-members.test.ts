import { describe, expect, test } from "vitest";
import { modelId, say } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const unsupported = contract.components.schemas.ChatCompletionRequest["x-unsupported-members"];
const text = (length: number): string => "a".repeat(length);
const ignoredIn = async (members: Readonly<Record<string, unknown>>): Promise<string | null> => {
  const response = await server().chat(members);
  expect(response.status).toBe(200);
  return response.headers.get("x-ignored-params");
};

describe("REQ-05 REQ-18 a value at its bound is accepted, and not named as ignored", () => {
  test.each([
    ["max_completion_tokens", [1, 16_384]],
    ["max_tokens", [1, 16_384]],
    ["temperature", [0, 2, 0.7]],
    ["top_p", [0.000_001, 1]],
    ["top_k", [0, 1, 2_147_483_647]],
    ["min_p", [0, 1]],
    ["frequency_penalty", [-2, 2]],
    ["presence_penalty", [-2, 2]],
    ["repetition_penalty", [0.000_001, 2]],
    ["stop", ["a", ["a"], ["a", "b", "c", "d"]]],
    ["logit_bias", [{}, { "0": -100, "5": 100 }, { "99999999999": 1 }]],
    ["logprobs", [true, false]],
    ["n", [1, 8]],
    ["stream", [false]],
    ["parallel_tool_calls", [true, false]],
    ["response_format", [{ type: "text" }, { type: "json_object" }]],
    ["reasoning_effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max"]],
    ["user", ["", "someone"]],
    ["metadata", [{}, { [text(64)]: text(512) }, { a: "🜂".repeat(512) }, { ["🜂".repeat(64)]: "" }]],
    ["modalities", [["text"]]],
  ] as const)("%s", async (name, values) => {
    for (const value of values) expect(await ignoredIn({ [name]: value })).toBeNull();
  });

  test("REQ-31 16 pairs of metadata", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`n${index}`, ""]));
    expect(await ignoredIn({ metadata })).toBeNull();
  });

  test("LOGP-07 top_logprobs 0 and 20", async () => {
    for (const count of [0, 20]) expect(await ignoredIn({ logprobs: true, top_logprobs: count })).toBeNull();
  });

  test.each(["9223372036854775807", "-9223372036854775808", "0", "-0", "7"])("REQ-28 seed %s", async (seed) => {
    const body = `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], "seed": ${seed}}`;
    expect((await server().chat({}, { body })).status).toBe(200);
  });

  test.each(["2.0", "2e0", "20e-1", "0.2e1"])("REQ-07 a whole number written as %s", async (n) => {
    const body = `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], "n": ${n}}`;
    const { choices } = await server().complete({}, { body });
    expect(choices).toHaveLength(2);
  });
});

const optional = [
  "max_completion_tokens max_tokens temperature top_p top_k min_p frequency_penalty presence_penalty",
  "repetition_penalty seed stop logit_bias logprobs top_logprobs n stream stream_options tools tool_choice",
  "parallel_tool_calls response_format reasoning_effort user metadata store service_tier safety_identifier",
  "prompt_cache_key verbosity functions function_call audio modalities prediction web_search_options",
].flatMap((line) => line.split(" "));

describe("null", () => {
  test.each(optional)("REQ-09 REQ-14 REQ-22 means that %s is absent, so it is not named", async (name) => {
    const response = await server().chat({ [name]: null });
    expect(response.headers.get("x-ignored-params")).toBeNull();
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "You said: Hello" } }] });
  });

  test("REQ-09 all of them at once, and with x-strict-params", async () => {
    const members = Object.fromEntries(optional.map((name) => [name, null]));
    expect(await ignoredIn(members)).toBeNull();
    expect((await server().chat(members, { headers: { "x-strict-params": "true" } })).status).toBe(200);
  });

  test("REQ-10 means absent inside other members, too", async () => {
    const messages = [
      { role: "system", content: "a", name: null },
      { role: "user", content: "b", name: null },
      { role: "assistant", content: "c", name: null, tool_calls: null, refusal: null, reasoning: null, audio: null },
      { role: "user", content: "d" },
    ];
    const tools = [{ type: "function", function: { name: "f", description: null, parameters: null, strict: null } }];
    const json_schema = { name: "a", schema: { type: "object" }, description: null, strict: null };
    const members = {
      messages,
      tools,
      response_format: { type: "json_schema", json_schema },
      logit_bias: { "5": null },
      metadata: { a: null },
    };
    expect(await ignoredIn(members)).toBeNull();
    expect((await server().stream({ messages, stream_options: { include_usage: null } })).end).toBe("done");
  });

  test("REQ-14 of an unknown member is not a member", async () => {
    expect(await ignoredIn({ mood: null, messages: [{ role: "user", content: "a", mood: null }] })).toBeNull();
  });
});

describe("a member without effect", () => {
  test("REQ-11 REQ-13 is accepted and named, in the order of the request", async () => {
    const members = { verbosity: "low", mood: 1, store: true, service_tier: "auto", prompt_cache_key: "k", zeal: [] };
    expect(await ignoredIn({ ...members, safety_identifier: "s" })).toBe(
      "verbosity,mood,store,service_tier,zeal,safety_identifier",
    );
  });

  test("REQ-11 is named with a stream, too", async () => {
    const response = await server().chat({ stream: true, mood: 1 });
    expect(response.headers.get("x-ignored-params")).toBe("mood");
    await response.text();
  });

  test("REQ-12 inside another one is named by its path", async () => {
    const members = {
      messages: [
        { role: "user", content: [{ type: "text", text: "a", cache_control: {} }], mood: 1 },
        { role: "assistant", content: null, tool_calls: [{ ...call("f"), index: 0 }] },
        { role: "tool", content: "b", tool_call_id: "c" },
      ],
      tools: [{ type: "function", mood: 1, function: { name: "f", mood: 1, parameters: { type: "object", mood: 1 } } }],
      response_format: { type: "text", mood: 1 },
    };
    expect(await ignoredIn(members)).toBe(
      "messages[0].content[0].cache_control,messages[0].mood,messages[1].tool_calls[0].index,tools[0].mood,tools[0].function.mood,response_format.mood",
    );
  });

  test("REQ-15 sixteen of many are named", async () => {
    const members = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`m${index}`, 1]));
    const names = Array.from({ length: 16 }, (_, index) => `m${index}`);
    expect(await ignoredIn(members)).toBe(names.join(","));
  });

  test("REQ-15 names in digits keep their position in the request, at any depth", async () => {
    const message = '{"mood": 1, "\\u0037": 1, "role": "user", "content": "a \\"9\\": b"}';
    const body = `{"model": "vendor/model-1", "store": true, "10" : 1, "messages": [${message}], "9": 1}`;
    const response = await server().chat({}, { body });
    expect(response.headers.get("x-ignored-params")).toBe("store,10,messages[0].mood,messages[0].7,9");
  });

  test("REQ-16 bytes that a header cannot have become question marks", async () => {
    expect(await ignoredIn({ "a,b c\u0000\u007f\r\n~!": 1, "ü🜂": 1, "": 1 })).toBe("a?b?c????~!,??????,?");
  });

  test("REQ-17 a name is cut at 128 bytes", async () => {
    expect(await ignoredIn({ [text(129)]: 1, [text(128)]: 1, [`${text(127)}ü`]: 1 })).toBe(
      `${text(128)},${text(128)},${text(127)}?`,
    );
  });

  test("HTTP-18 10 000 of them, and names that every object has, do no harm", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, index]));
    expect((await ignoredIn(many))?.split(",")).toHaveLength(16);
    const pairs = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"].map(
      (name) => `"${name}": {"model": "evil", "isAdmin": true}`,
    );
    const body = `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], ${pairs.join(", ")}}`;
    const response = await server().chat({}, { body });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ignored-params")).toBe("__proto__,constructor,prototype,toString,hasOwnProperty");
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
  });

  test.each(["false", "1", "yes", "", "truely"])("REQ-20 x-strict-params: %s changes nothing", async (value) => {
    expect((await server().chat({ mood: 1 }, { headers: { "x-strict-params": value } })).status).toBe(200);
  });

  test("REQ-19 with x-strict-params a request without one is accepted", async () => {
    expect((await server().chat({}, { headers: { "x-strict-params": "true" } })).status).toBe(200);
  });
});

test("REQ-30 user and metadata change nothing in the answer's shape", async () => {
  const plain = await server().complete();
  const marked = await server().complete({ user: "someone", metadata: { order: "7" } });
  const { id: _id, created: _created, ...rest } = plain;
  expect(marked).toMatchObject(rest);
  expect(Object.keys(marked)).toEqual(Object.keys(plain));
});

test("HTTP-17 the last of a repeated member counts", async () => {
  const body = `{"model": "nobody/nothing", "n": 3, "messages": [], "messages": [{"role": "user", "content": "a", "content": "b"}], "n": 2, "model": "${modelId}"}`;
  const { choices } = await server().complete({}, { body });
  expect(choices.map(({ message }) => message.content)).toEqual(["You said: b", "You said: b"]);
});

test("REQ-36 the highest efforts are those of the model: they think as much as `high`", async () => {
  const reasoningTokens = async (reasoning_effort: string): Promise<number | undefined> =>
    (await server().complete({ reasoning_effort })).usage.completion_tokens_details?.reasoning_tokens;
  const high = await reasoningTokens("high");
  expect(high).toBeGreaterThan(0);
  for (const effort of ["xhigh", "max"]) expect(await reasoningTokens(effort)).toBe(high);
});

describe("REQ-37 a member that other services know", () => {
  test.each(unsupported)("$member is ignored and named with a value that asks for nothing", async (entry) => {
    const { member, harmless = [] } = entry as { member: string; harmless?: readonly unknown[] };
    expect(await ignoredIn(withMember(member, null))).toBeNull();
    for (const value of [{}, { effort: null }, [], "", ...harmless])
      expect(await ignoredIn(withMember(member, value))).toBe(member.replace("[]", "[0]"));
  });

  test("REQ-11 is ignored and named where it only shifts the odds of words, or measures an engine", async () => {
    const members = { typical_p: 0.9, mirostat: 2, min_tokens: 5, ignore_eos: true };
    expect(await ignoredIn(members)).toBe(Object.keys(members).join());
  });
});

describe("MSG-26 MSG-27 near the end of the context", () => {
  // The engine counts four bytes as a token: this leaves ten.
  const long = say(`${text(130_940)} ${"b ".repeat(30)}`);

  test.each([
    ["a maximum that is too much is lowered", { max_tokens: 16_384 }, 10],
    ["the default is what is left", {}, 10],
    ["a smaller maximum holds", { max_tokens: 4 }, 4],
  ])("%s", async (_title, members, tokens) => {
    const { choices, usage } = await server().complete({ ...long, ...members });
    expect(choices[0]?.finish_reason).toBe("length");
    expect(usage).toMatchObject({ prompt_tokens: 32_758, completion_tokens: tokens });
  });
});

test("MSG-27 the default is as large as the record says", async () => {
  const { usage } = await server().complete(say("b ".repeat(16_500)));
  expect(usage.completion_tokens).toBe(16_384);
});

describe("REQ-34 REQ-35 a maximum above what the model can write", () => {
  const numbers = ["16385", "32000", "32000.0", "2147483648", "9223372036854775807", "9223372036854775808", "1e30"];
  const bodyWith = (members: string): { body: string } => ({
    body: `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], ${members}}`,
  });

  test.each(numbers)("%s means the same as none, and is named", async (number) => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const response = await server().chat({}, bodyWith(`"${name}": ${number}`));
      expect([response.status, response.headers.get("x-ignored-params")]).toEqual([200, name]);
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "You said: a" } }] });
    }
  });

  test("is lowered to what the model object says, and the head of a stream names it, too", async () => {
    const long = say("b ".repeat(16_500));
    const { usage } = await server().complete({ ...long, max_tokens: 32_000 });
    expect(usage.completion_tokens).toBe(16_384);
    const response = await server().chat({ stream: true, max_tokens: 32_000 });
    expect(response.headers.get("x-ignored-params")).toBe("max_tokens");
    await response.text();
  });

  test("MSG-26 is named where the context leaves less than it, and not where it fits", async () => {
    const long = say(text(120_000));
    expect(await ignoredIn({ ...long, max_tokens: 16_384 })).toBe("max_tokens");
    expect(await ignoredIn({ ...long, max_completion_tokens: 16_384 })).toBe("max_completion_tokens");
    expect(await ignoredIn({ ...long, max_tokens: 100 })).toBeNull();
    expect(await ignoredIn(long)).toBeNull();
  });

  test("REQ-25 counts only where it holds", async () => {
    expect(await ignoredIn({ max_completion_tokens: 5, max_tokens: 32_000 })).toBeNull();
    expect(await ignoredIn({ max_completion_tokens: 32_000, max_tokens: 5 })).toBe("max_completion_tokens");
    expect(await ignoredIn({ max_completion_tokens: null, max_tokens: 32_000 })).toBe("max_tokens");
  });

  test("REQ-15 is named in the order of the request, among sixteen", async () => {
    expect(await ignoredIn({ store: true, max_tokens: 32_000, mood: 1 })).toBe("store,max_tokens,mood");
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, 1]));
    const sixteen = Array.from({ length: 16 }, (_, index) => `m${index}`);
    expect(await ignoredIn({ max_tokens: 32_000, ...many })).toBe(["max_tokens", ...sixteen.slice(0, 15)].join(","));
    expect(await ignoredIn({ ...many, max_tokens: 32_000 })).toBe(sixteen.join(","));
  });

  test("does not hide that the model is not offered", async () => {
    const members = { model: "vendor/typo", max_tokens: 32_000 };
    expect(await server().refuse(members)).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    const strict = { headers: { "x-strict-params": "true" } };
    expect(await server().refuse(members, strict)).toMatchObject({ code: "model_not_found" });
  });
});

/** A request with one of the unsupported members, in the body or in its message. */
function withMember(member: string, value: unknown): Readonly<Record<string, unknown>> {
  const name = member.replace("messages[].", "");
  return name === member ? { [name]: value } : { messages: [{ role: "user", content: "a", [name]: value }] };
}

function call(name: string): object {
  return { id: "call_1", type: "function", function: { name, arguments: "{}" } };
}
