import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, inject, test } from "vitest";
import { startTestServer } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { components } from "@parley/contract/types";
import type { Completion } from "../../chat/relay/collect.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({
  scenarios: {
    calls: [
      { role: true },
      { tool: { index: 0, name: "f", arguments: '{"a":' } },
      { tool: { index: 0, arguments: "1}" } },
      { tool: { index: 1, name: "g", arguments: "" } },
      { tool: { index: 1, arguments: "{}" } },
      { finish: "tool_calls" },
    ],
    cut: [{ role: true }, { tool: { index: 0, name: "f", arguments: '{"a' } }, { finish: "length" }],
    "text-and-call": [
      { role: true },
      { text: "I look." },
      { tool: { index: 0, name: "g", arguments: "{}" } },
      { finish: "tool_calls" },
    ],
    engine: [{ raw: `${JSON.stringify({ kind: "role", choice: 0, secret: 1 })}\n` }, { text: "a" }, { finish: "stop" }],
  },
});

const schema = {
  type: "object",
  properties: { address: { type: "string" }, depth: { type: "integer" }, deep: { $ref: "#/$defs/deep" } },
  required: ["address", "depth", "deep"],
  additionalProperties: false,
  $defs: { deep: { anyOf: [{ const: "x" }, { enum: ["y", 1] }] } },
};
const f = { type: "function", function: { name: "f", description: "d", parameters: schema } };
const g = { type: "function", function: { name: "g" } };
/** Its pattern compares a part of the text with another one, which no grammar can. */
const repeating = {
  type: "function",
  function: {
    name: "repeating",
    parameters: {
      type: "object",
      properties: { a: { type: "string", minLength: 3, pattern: "(a)\\1" } },
      required: ["a"],
    },
  },
};
const named = (name: string) => ({ type: "function", function: { name } });
const isValid = (wanted: object, text: string | null | undefined): unknown =>
  new Ajv2020().validate(wanted, JSON.parse(text ?? ""));
const firstOf = async (members: Readonly<Record<string, unknown>>) => {
  const { choices } = await server().complete(members);
  const [choice] = choices;
  if (!choice) throw new Error("there is no choice");
  return choice;
};
const script = (name: string) => ({ messages: [{ role: "user", content: `script:${name}` }], tools: [f, g] });

describe("tools", () => {
  test("TOOL-21 are accepted without tool_choice, and with auto", async () => {
    for (const members of [{}, { tool_choice: "auto" }, { tool_choice: null }]) {
      expect((await firstOf({ tools: [f], ...members })).finish_reason).toBe("stop");
    }
  });

  test("TOOL-02 none makes no call, with tools or without", async () => {
    for (const tools of [[f], undefined]) {
      expect((await firstOf({ tools, tool_choice: "none" })).message).not.toHaveProperty("tool_calls");
    }
  });

  test.each([
    ["TOOL-03 required", "required", "f", schema],
    ["TOOL-04 a named function", named("g"), "g", { type: "object", maxProperties: 0 }],
    ["TOOL-13 a named function with a schema", named("f"), "f", schema],
  ])("TOOL-01 TOOL-15 RESP-07 %s makes a complete call", async (_title, tool_choice, name, kept) => {
    const { message, finish_reason } = await firstOf({ tools: [f, g], tool_choice });
    expect(finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    expect(message.tool_calls?.map((call) => call.function.name)).toEqual([name]);
    expect(isValid(kept, message.tool_calls?.[0]?.function.arguments)).toBe(true);
  });

  test("TOOL-11 a function without parameters is called with {}", async () => {
    const { message } = await firstOf({ tools: [g], tool_choice: "required" });
    expect(message.tool_calls?.[0]?.function.arguments).toBe("{}");
  });

  test("TOOL-09 TOOL-07 128 tools, and names at their bounds, are accepted", async () => {
    const tools = Array.from({ length: 128 }, (_, index) => named(`${"_".repeat(60)}-${index}`));
    expect((await server().chat({ tools })).status).toBe(200);
    expect((await server().chat({ tools: [named("a"), named("Z-9_")] })).status).toBe(200);
  });

  test("TOOL-19 a keyword that cannot be enforced is accepted where nothing is forced", async () => {
    const parameters = { type: "object", properties: { a: { $dynamicRef: "#a" } } };
    const tools = [repeating, g, { type: "function", function: { name: "dynamic", parameters } }];
    for (const members of [{}, { tool_choice: "auto" }, { tool_choice: "none" }, { tool_choice: named("g") }]) {
      const response = await server().chat({ tools, ...members });
      expect(response.status).toBe(200);
      expect(response.headers.get("x-ignored-params")).toBeNull();
    }
  });

  test.each([["required"], [named("repeating")]])(
    "TOOL-13 TOOL-24 with tool_choice %j everything else is enforced, and the keyword is named",
    async (tool_choice) => {
      const response = await server().chat({ tools: [repeating], tool_choice });
      expect(response.headers.get("x-ignored-params")).toBe("tools[0].function.parameters.properties.a.pattern");
      const { choices } = (await response.json()) as Completion;
      const kept = { type: "object", properties: { a: { minLength: 3, type: "string" } }, required: ["a"] };
      expect(isValid(kept, choices[0]?.message.tool_calls?.[0]?.function.arguments)).toBe(true);
    },
  );

  test("TOOL-24 a forced function whose schema is too complex is left open, and its schema is named", async () => {
    const doubled = Array.from({ length: 20 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { anyOf: [{ items: next }, next] }];
    });
    const $defs = { ...Object.fromEntries(doubled), d20: { type: "string" } };
    const parameters = { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
    const tools = [{ type: "function", function: { name: "vast", parameters } }];
    const response = await server().chat({ tools, tool_choice: "required" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ignored-params")).toBe("tools[0].function.parameters");
    const { choices } = (await response.json()) as Completion;
    expect(isValid({ type: "object" }, choices[0]?.message.tool_calls?.[0]?.function.arguments)).toBe(true);
    expect((await server().chat({ tools })).headers.get("x-ignored-params")).toBeNull();
  });

  test("TOOL-16 RESP-09 a call that the cap cut is given as far as it came", async () => {
    const { message, finish_reason } = await firstOf(script("cut"));
    expect(finish_reason).toBe("length");
    expect(message.tool_calls?.[0]?.function).toEqual({ name: "f", arguments: '{"a' });
    const capped = await firstOf({ tools: [f], tool_choice: "required", max_tokens: 1 });
    expect(capped.message.tool_calls).toHaveLength(1);
  });

  test("RESP-10 TOOL-14 TOOL-17 several calls are told apart by ids that are never used again", async () => {
    const choices = await Promise.all(Array.from({ length: 5 }, () => firstOf(script("calls"))));
    const calls = choices.flatMap(({ message }) => message.tool_calls ?? []);
    expect(calls.map((call) => call.function.name)).toEqual(Array.from({ length: 5 }, () => ["f", "g"]).flat());
    expect(calls[0]?.function.arguments).toBe('{"a":1}');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(10);
    expect(choices.every(({ finish_reason }) => finish_reason === "tool_calls")).toBe(true);
  });

  test("text may come before a call", async () => {
    const { message } = await firstOf(script("text-and-call"));
    expect(message).toMatchObject({ content: "I look.", tool_calls: [{ function: { name: "g" } }] });
  });

  test("TOOL-20 a conversation with a call and its result is answered", async () => {
    const { message } = await firstOf(script("calls"));
    const results = (message.tool_calls ?? []).map(({ id }) => ({ role: "tool", tool_call_id: id, content: "1" }));
    const messages = [{ role: "user", content: "What now?" }, message, ...results];
    expect((await firstOf({ messages, tools: [f, g] })).message.content).toBe("You said: What now?");
  });
});

describe("response_format", () => {
  const json = (inner: unknown, more: object = {}) => ({
    response_format: { type: "json_schema", json_schema: { name: "a", schema: inner, ...more } },
  });

  test("FMT-01 text means the same as none", async () => {
    const [none, text] = [await firstOf({}), await firstOf({ response_format: { type: "text" } })];
    expect(text).toEqual(none);
  });

  test("FMT-02 json_object is one JSON object", async () => {
    const { message } = await firstOf({ response_format: { type: "json_object" } });
    expect(JSON.parse(message.content ?? "")).toEqual({ text: "Hello" });
  });

  test("FMT-03 FMT-04 FMT-07 json_schema is valid against the schema, whatever strict says", async () => {
    for (const more of [{}, { strict: true }, { strict: false }, { strict: null }]) {
      const { message } = await firstOf(json(schema, more));
      expect(isValid(schema, message.content)).toBe(true);
    }
  });

  test("FMT-08 annotations are accepted", async () => {
    const annotations = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://a.example/b",
      $comment: "c",
      title: "t",
      description: "d",
      default: {},
      examples: [{}],
      deprecated: true,
    };
    expect((await server().chat(json({ ...annotations, type: "object" }))).status).toBe(200);
    expect(
      (await server().chat(json({ type: "object", $schema: "http://json-schema.org/draft-07/schema#" }))).status,
    ).toBe(200);
  });

  test("FMT-16 words that are not keywords are named, in the order of the request", async () => {
    const odd = { type: "object", example: {}, properties: { a: { maxLenght: 3 }, b: { format: "colour" } } };
    const response = await server().chat({ ...json(odd), conformance: 1 });
    expect(response.status).toBe(200);
    const path = "response_format.json_schema.schema";
    const words = ["example", "properties.a.maxLenght", "properties.b.format"].map((word) => `${path}.${word}`);
    expect(response.headers.get("x-ignored-params")).toBe([...words, "conformance"].join(","));
  });

  test("FMT-17 the schema is in the prompt where the model is shown it, up to its bound", async () => {
    const pricing = { prompt: "0", completion: "0" };
    const models = { shown: { schema_prompt: "Write {schema}", pricing }, other: { pricing } };
    await using showing = await startTestServer({ settings: { models }, mount: inject("mount") });
    const promptOf = async (name: string, more: object): Promise<number> => {
      const response = await showing.chat({ model: `vendor/${name}`, ...more });
      return ((await response.json()) as Completion).usage.prompt_tokens; // judged
    };
    const object = { response_format: { type: "json_object" } };
    for (const more of [json(schema), object]) {
      expect(await promptOf("shown", more)).toBeGreaterThan(await promptOf("shown", {}));
      expect(await promptOf("other", more)).toBe(await promptOf("other", {}));
    }
    const most = contract["x-limits"].shownSchemaCharacters.value;
    const longOf = (length: number) =>
      json({ type: "object", title: "x".repeat(length - '{"type":"object","title":""}'.length) });
    expect(await promptOf("shown", longOf(most))).toBeGreaterThan(most / 4);
    expect(await promptOf("shown", longOf(most + 1))).toBe(await promptOf("shown", {}));
    const listing = (await (await showing.fetch("/models")).json()) as components["schemas"]["ModelList"]; // judged
    expect(listing.data.map(({ supported_features }) => supported_features.includes("schema_in_prompt"))).toEqual([
      true,
      false,
    ]);
  });

  test("FMT-15 content that the token limit cuts is delivered up to there", async () => {
    const { message, finish_reason } = await firstOf({
      messages: [{ role: "user", content: "a b c" }],
      response_format: { type: "json_object" },
      max_tokens: 1,
    });
    expect(finish_reason).toBe("length");
    expect(message.content).toBe('{"text":"a');
  });
});

describe("log-probabilities", () => {
  const members = { messages: [{ role: "user", content: "one zwölf 🜂" }], logprobs: true };

  test("LOGP-02 LOGP-03 LOGP-04 LOGP-06 are one entry per token of the content", async () => {
    for (const more of [{}, { top_logprobs: 0 }, { top_logprobs: null }]) {
      const { message, logprobs } = await firstOf({ ...members, ...more });
      const entries = logprobs?.content ?? [];
      expect(entries.map(({ token }) => token)).toEqual(["You", " said:", " one", " zwölf", " 🜂"]);
      expect(Buffer.from(entries.flatMap(({ bytes }) => bytes)).toString("utf8")).toBe(message.content);
      expect(entries.every(({ logprob, top_logprobs }) => logprob <= 0 && top_logprobs.length === 0)).toBe(true);
    }
  });

  test("LOGP-05 have at most as many alternatives as were asked for", async () => {
    const { logprobs } = await firstOf({ ...members, top_logprobs: 3 });
    expect(logprobs?.content?.every(({ top_logprobs }) => top_logprobs.length > 0 && top_logprobs.length <= 3)).toBe(
      true,
    );
  });

  test("LOGP-10 do not stand for reasoning or calls", async () => {
    const thinking = await firstOf({ ...members, reasoning_effort: "high" });
    expect(thinking.logprobs?.content).toHaveLength(5);
    const calling = await firstOf({ ...members, tools: [f], tool_choice: "required" });
    expect(calling.logprobs).toEqual({ content: [] });
  });

  test("LOGP-01 LOGP-11 are null where they were not asked for, and do not change the text", async () => {
    const asked = await firstOf(members);
    for (const logprobs of [false, null, undefined]) {
      const plain = await firstOf({ ...members, logprobs });
      expect(plain.logprobs).toBeNull();
      expect(plain.message).toEqual(asked.message);
    }
  });
});

test("RESP-19 members that an engine adds to its events are not passed on", async () => {
  const response = await server().chat({ messages: script("engine").messages });
  expect(await response.text()).not.toContain("secret");
});
