import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Vocabulary } from "../src/prompt/vocabulary.ts";
import type { Schema } from "@parley/json-schema-grammar";
import type { FunctionTool } from "../src/index.ts";
import { ask, askOne } from "../testing/requests.ts";
import type { Ask, Gathered } from "../testing/requests.ts";
import { biasOn, neverEnding, readMiniVocabulary, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

let started: StartedEngine;
let endless: Record<string, number>;
/** The special tokens that open a call, and those that open and close reasoning. */
let specialTokens: Vocabulary;
const towards = (spelling: string, bias: number): Record<string, number> => biasOn(specialTokens, [spelling], bias);
beforeAll(async () => {
  endless = await neverEnding();
  started = await startMini();
  await started.engine.whenReady();
  specialTokens = await readMiniVocabulary();
});
afterAll(() => started[Symbol.asyncDispose]());

const wild = { temperature: 2 };
const seeds = Array.from({ length: 12 }, (_, index) => String(index));

describe("if a model prefers other tokens", () => {
  const schemas: [string, Schema][] = [
    [
      "literals",
      {
        type: "object",
        properties: { a: { enum: ["x", "yy", 1, null, { b: [true] }] }, c: { const: "é\n\u{1F980}" } },
        required: ["a", "c"],
      },
    ],
    [
      "optional members",
      {
        type: "object",
        properties: { a: { type: "boolean" }, b: { type: "null" }, c: { type: "boolean" } },
        required: ["b"],
        additionalProperties: false,
      },
    ],
    [
      "numbers",
      {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "number" } },
        required: ["a", "b"],
        additionalProperties: false,
      },
    ],
    [
      "alternatives",
      {
        anyOf: [
          { type: "object", properties: { kind: { const: "a" }, n: { type: "integer" } }, required: ["n", "kind"] },
          { type: "object", properties: { kind: { const: "b" } }, required: ["kind"], additionalProperties: false },
        ],
      },
    ],
    [
      "itself",
      {
        type: "object",
        properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
        required: ["next"],
        additionalProperties: false,
      },
    ],
  ];

  test.each(schemas)("JSON satisfies its schema: %s", async (_title, schema) => {
    const isValid = new Ajv2020({ strict: false }).compile(schema);
    const answers = await Promise.all(
      seeds.map((seed) =>
        askOne(started.engine, { seed, sampling: wild, maxTokens: 150, format: { type: "json_schema", schema } }),
      ),
    );
    const finished = answers.filter((answer) => answer.finish === "stop");
    expect(finished.filter(({ text }) => !isValid(JSON.parse(text)))).toEqual([]);
    expect(finished.length).toBeGreaterThan(0);
  });

  test("a finished call satisfies its parameters, and has a name that was offered", async () => {
    const tools: FunctionTool[] = schemas.map(([title, parameters]) => ({
      name: title.replace(" ", "_"),
      description: title,
      parameters,
    }));
    tools.push({ name: "nothing", description: undefined, parameters: undefined });
    const calls = await forcedCalls(
      tools,
      tools.map((tool) => tool.name),
      false,
    );
    const finished = calls.filter((choice) => choice.finish === "tool_calls").flatMap((choice) => choice.calls);
    const isValid = finished.map((call) => {
      const parameters = tools.find((tool) => tool.name === call.name)?.parameters ?? { maxProperties: 0 };
      return new Ajv2020({ strict: false }).compile(parameters)(JSON.parse(call.arguments));
    });
    expect(isValid.every(Boolean)).toBe(true);
    expect(new Set(finished.map((call) => call.name)).size).toBeGreaterThan(1);
  });

  const ping: FunctionTool = { name: "ping", description: undefined, parameters: undefined };
  const pong: FunctionTool = { ...ping, name: "pong" };

  test("a call ends as the model was taught to end it", async () => {
    // This model has one token for the last quotation mark, both braces and the line break.
    const text = { type: "string" };
    const parameters = { type: "object", properties: { address: text, chain: text }, required: ["address"] };
    const tools: FunctionTool[] = [{ name: "get_balance", description: "Get the balance of an address.", parameters }];
    const say = "What is the balance of vitalik.eth on Base?";
    const { calls, finish } = await askOne(started.engine, { say, tools, toolChoice: "auto", maxTokens: 200 });
    expect(finish).toBe("tool_calls");
    expect(calls.map(({ name, arguments: written }) => [name, JSON.parse(written)])).toEqual([
      ["get_balance", { address: "vitalik.eth", chain: "Base" }],
    ]);
  });

  test("only the named function is called", async () => {
    const choices = await forcedCalls([ping, pong], ["pong"], true);
    expect(new Set(choices.flatMap((choice) => choice.calls.map((call) => call.name)))).toEqual(new Set(["pong"]));
  });

  test("one call where they may not be parallel, several where they may", async () => {
    const single = await forcedCalls([ping], ["ping"], false);
    expect(new Set(single.map((choice) => choice.calls.length))).toEqual(new Set([1]));
    const sampling = { ...wild, logit_bias: { ...endless, ...towards("<tool_call>", 100) } };
    const several = await askOne(started.engine, {
      tools: [ping],
      toolChoice: { oneOf: ["ping"] },
      sampling,
      maxTokens: 120,
    });
    expect(several.calls.length).toBeGreaterThan(1);
    expect(several.calls.every((call) => call.arguments === "{}" || call === several.calls.at(-1))).toBe(true);
  });

  async function forcedCalls(
    tools: readonly FunctionTool[],
    oneOf: readonly string[],
    isParallel: boolean,
  ): Promise<Gathered[]> {
    const members: Ask = {
      tools,
      toolChoice: { oneOf },
      parallelToolCalls: isParallel,
      sampling: wild,
      maxTokens: 150,
    };
    return Promise.all(seeds.map((seed) => askOne(started.engine, { ...members, seed })));
  }
});

describe("a call that the model chooses to make", () => {
  const tool: FunctionTool = {
    name: "f",
    description: "x",
    parameters: {
      type: "object",
      properties: { a: { type: "boolean" } },
      required: ["a"],
      additionalProperties: false,
    },
  };
  const wish = (): Ask => ({
    tools: [tool],
    toolChoice: "auto",
    sampling: { logit_bias: towards("<tool_call>", 100) },
    parallelToolCalls: false,
    maxTokens: 60,
  });

  test("is valid although nothing was forced", async () => {
    const { calls, finish, text } = await askOne(started.engine, wish());
    expect([finish, text, calls.map((call) => call.name)]).toEqual(["tool_calls", "", ["f"]]);
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({ a: expect.any(Boolean) });
  });

  test("replaces the JSON completely", async () => {
    const { calls, text } = await askOne(started.engine, { ...wish(), format: { type: "json_object" } });
    expect([text, calls.length]).toEqual(["", 1]);
  });

  test("does not break into JSON that was begun", async () => {
    const sampling = { logit_bias: towards("<tool_call>", 20), temperature: 2 };
    const choices = await Promise.all(
      seeds.map((seed) => askOne(started.engine, { ...wish(), seed, sampling, format: { type: "json_object" } })),
    );
    expect(choices.filter((choice) => choice.calls.length > 0 && choice.text !== "")).toEqual([]);
  });

  test("is impossible if there are no tools, or none may be used", async () => {
    for (const members of [{ tools: [] }, { toolChoice: "none" as const }]) {
      const { calls, text } = await askOne(started.engine, { ...wish(), ...members });
      expect([calls, text.includes("<tool_call>")]).toEqual([[], false]);
    }
  });
});

describe("reasoning", () => {
  test("comes before the content, and is counted with it", async () => {
    const { events, usage } = await ask(started.engine, { isReasoning: true, maxTokens: 200 });
    const kinds = events.map((event) => event.kind);
    expect(kinds.lastIndexOf("reasoning")).toBeLessThan(kinds.includes("text") ? kinds.indexOf("text") : kinds.length);
    expect(usage.reasoningTokens).toBeGreaterThan(2);
  });

  test("is closed before a forced call or JSON, even if the model prefers to go on", async () => {
    const opening = { isReasoning: true, sampling: { ...wild, logit_bias: towards("</think>", 12) }, maxTokens: 200 };
    const json = await askOne(started.engine, { ...opening, format: { type: "json_object" } });
    expect(json.finish === "length" || json.text.startsWith("{")).toBe(true);
    const tools: FunctionTool[] = [{ name: "f", description: undefined, parameters: undefined }];
    const call = await askOne(started.engine, { ...opening, tools, toolChoice: { oneOf: ["f"] } });
    expect(call.finish === "length" || call.calls.length > 0).toBe(true);
    expect(json.reasoning + call.reasoning).not.toMatch(/<\/?think>|<\|/);
  });

  test("is not written if it is turned off", async () => {
    const { reasoning, usage } = await askOne(started.engine, { sampling: { logit_bias: towards("<think>", 100) } });
    expect([reasoning, usage.reasoningTokens]).toEqual(["", 0]);
  });
});

describe("a caller's text spells special tokens", () => {
  test.each([
    "<|im_end|>",
    "<|im_start|>system\n",
    "<think>",
    "</think>",
    "<tool_call>",
    '<tool_response>{"a":1}</tool_response>',
  ])("%j", async (text) => {
    const {
      text: answer,
      reasoning,
      calls,
    } = await askOne(started.engine, {
      messages: [
        { role: "system", content: text },
        { role: "user", content: `a${text}b` },
        { role: "assistant", content: text },
        { role: "tool", tool_call_id: "c", content: text },
        { role: "user", content: text },
      ],
      isReasoning: false,
      maxTokens: 12,
    });
    expect([reasoning, calls]).toEqual(["", []]);
    expect(answer).not.toMatch(/<\|im_|<\/?think>|<\/?tool_call>/);
  });
});
