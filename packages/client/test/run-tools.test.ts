import { getEventListeners } from "node:events";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "@parley/server/testing";
import type { TestOptions, TestServer } from "@parley/server/testing";
import { TooManyRoundsError, defineTool } from "../src/index.ts";
import type { ChatMessage, Parley, RunnableTool, ToolContext, ToolRequest } from "../src/index.ts";
import { connect, errorOf, hello } from "./ask.ts";
import { playing } from "./scenarios.ts";

/** The loop against the real server. The scripted engine calls a tool if it must, and otherwise repeats the user's message. */

const call = (index: number, name: string, text: string) => [
  { tool: { index, name, arguments: "" } },
  { tool: { index, arguments: text } },
];
const scenarios: NonNullable<TestOptions["scenarios"]> = {
  "call-always": [{ role: true }, ...call(0, "look", '{"at":1}'), { finish: "tool_calls" }],
  "call-twice": [
    { role: true },
    ...call(0, "look", '{"at":1}'),
    ...call(1, "look", '{"at":2}'),
    { finish: "tool_calls" },
  ],
  "call-wrongly": [{ role: true }, ...call(0, "look", '{"at":"there"}'), { finish: "tool_calls" }],
};

let server: TestServer;
let parley: Parley;
beforeAll(async () => {
  server = await startTestServer({ scenarios });
  parley = connect(server.baseUrl, { maxRetries: 0 });
});
afterAll(() => server[Symbol.asyncDispose]());

const look = (run: (args: { at: number }, context: ToolContext) => unknown): RunnableTool =>
  defineTool({ name: "look", description: "Looks.", parameters: z.object({ at: z.int() }), strict: false, run });
const forced = (tool: RunnableTool): ToolRequest => ({ ...hello, tools: [tool], tool_choice: "required" });
const scripted = (name: string, tool: RunnableTool): ToolRequest => ({ ...playing(name), tools: [tool] });
const resultsIn = (messages: readonly ChatMessage[]): unknown[] =>
  messages.filter(({ role }) => role === "tool").map(({ content }) => content);

describe("runTools()", () => {
  test("passes integers that a number would change to the tool and back", async () => {
    const seen: unknown[] = [];
    const wei = 9_007_199_254_740_993n;
    const tool = defineTool({
      name: "look",
      parameters: z.object({ wei: z.bigint() }),
      jsonSchema: { type: "object", properties: { wei: { const: wei } }, required: ["wei"] },
      run: (args) => {
        seen.push(args);
        return { ...args, doubled: 2n * args.wei };
      },
    });
    const { messages } = await parley.runTools(forced(tool));
    expect(seen).toEqual([{ wei }]);
    expect(resultsIn(messages)).toEqual(['{"wei":9007199254740993,"doubled":18014398509481986}']);
  });

  test("runs the called tool, sends the result, and ends with the model's answer", async () => {
    const seen: unknown[] = [];
    const heard: ChatMessage[] = [];
    const tool = look((args, { callId }) => {
      expectTypeOf(args).toEqualTypeOf<{ at: number }>();
      seen.push(args, callId);
      return { found: true };
    });
    const { message, messages, completions } = await parley.runTools(forced(tool), {
      onMessage: (added) => heard.push(added),
    });
    expect(message.content).toBe("You said: Hello");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(messages.slice(1)).toEqual(heard);
    expect(resultsIn(messages)).toEqual(['{"found":true}']);
    const [made] = completions[0]?.choices[0]?.message.tool_calls ?? [];
    expect(seen).toEqual([JSON.parse(made?.function.arguments ?? ""), made?.id]);
    expect(completions).toHaveLength(2);
    expect(completions[1]?.choices[0]?.message).toBe(message);
  });

  test("does not change the messages of the request, and its result can begin another request", async () => {
    const request = forced(look(() => "there"));
    const { messages } = await parley.runTools(request);
    expect(request.messages).toEqual(hello.messages);
    expect(resultsIn(messages)).toEqual(["there"]);
    const next = await parley.create({ ...hello, messages: [...messages, { role: "user", content: "And now?" }] });
    expect(next.choices[0]?.message.content).toBe("You said: And now?");
  });

  test("works when no tool is called", async () => {
    const { messages, completions } = await parley.runTools({ ...hello, tools: [look(() => expect.unreachable())] });
    expect([messages.length, completions.length]).toEqual([2, 1]);
  });

  test("runs the calls of a round one after the other, in their order", async () => {
    const log: string[] = [];
    const tool = look(async ({ at }) => {
      log.push(`begin ${at}`);
      await new Promise(setImmediate);
      log.push(`end ${at}`);
      return at;
    });
    await errorOf(parley.runTools(scripted("call-twice", tool), { maxRounds: 2 }));
    expect(log).toEqual(["begin 1", "end 1", "begin 2", "end 2"]);
  });

  test("ends after `maxRounds` rounds, and does not run the calls of the last round", async () => {
    let runs = 0;
    const error = await errorOf(
      parley.runTools(
        scripted(
          "call-always",
          look(() => (runs += 1)),
        ),
        { maxRounds: 3 },
      ),
    );
    expect(error).toBeInstanceOf(TooManyRoundsError);
    expect(error).toMatchObject({ code: "too_many_rounds", message: "The model still calls tools after 3 rounds." });
    expect(runs).toBe(2);
    expect((error as TooManyRoundsError).messages.map(({ role }) => role)).toEqual(
      "user,assistant,tool,assistant,tool,assistant".split(","),
    ); // the line before shows that it is a TooManyRoundsError
  });

  test("ends after ten rounds by default", async () => {
    const error = await errorOf(
      parley.runTools(
        scripted(
          "call-always",
          look(() => "again"),
        ),
      ),
    );
    expect(error).toHaveProperty("message", "The model still calls tools after 10 rounds.");
  });
});

describe("a failure in a round", () => {
  test("the model is told about invalid arguments, and the tool is not run", async () => {
    const request = scripted(
      "call-wrongly",
      look(() => expect.unreachable()),
    );
    const error = await errorOf(parley.runTools(request, { maxRounds: 2 }));
    expect(resultsIn((error as TooManyRoundsError).messages)).toEqual([
      "Error: the arguments are invalid. at: Invalid input: expected number, received string",
    ]); // the scenario never stops calling
  });

  const broken = (): RunnableTool =>
    look(() => {
      throw new RangeError("no such place");
    });

  test("an error of a tool is thrown, unless `onToolError` is `tell`", async () => {
    expect(await errorOf(parley.runTools(forced(broken())))).toBeInstanceOf(RangeError);
    const { messages, message } = await parley.runTools(forced(broken()), { onToolError: "tell" });
    expect(resultsIn(messages)).toEqual(["Error: no such place"]);
    expect(message.content).toBe("You said: Hello");
  });

  test("a result that JSON cannot express is an error of the tool", async () => {
    const tool = look(() => {
      const circle: Record<string, unknown> = {};
      return (circle["self"] = circle);
    });
    expect(await errorOf(parley.runTools(forced(tool)))).toBeInstanceOf(TypeError);
    expect(resultsIn((await parley.runTools(forced(look(() => undefined)))).messages)).toEqual(["null"]);
  });

  test("an error of the service ends the loop", async () => {
    const tool = look(() => "");
    expect(await errorOf(parley.runTools({ ...forced(tool), model: "vendor/none" }))).toHaveProperty(
      "code",
      "model_not_found",
    );
  });
});

describe("a signal", () => {
  test("ends the loop even while a tool ignores it, and is no longer referenced", async () => {
    const controller = new AbortController();
    const tool = look((_args, { signal }) => {
      expect(signal).toBe(controller.signal);
      setImmediate(() => controller.abort("enough"));
      return new Promise(() => undefined);
    });
    const run = parley.runTools(forced(tool), { signal: controller.signal, onToolError: "tell" });
    expect(await errorOf(run)).toBe("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("that a tool aborts ends the loop before the next call and the next request", async () => {
    const controller = new AbortController();
    let runs = 0;
    const tool = look(() => {
      runs += 1;
      controller.abort("enough");
    });
    expect(await errorOf(parley.runTools(scripted("call-twice", tool), { signal: controller.signal }))).toBe("enough");
    expect(runs).toBe(1);
  });
});

test("defineTool() needs `jsonSchema` if the library generates none", async () => {
  const parameters = v.object({ at: v.number() });
  const jsonSchema = { type: "object", properties: { at: { type: "integer" } }, required: ["at"] };
  const tool = defineTool({ name: "look", parameters, jsonSchema, run: ({ at }) => at });
  expect(tool.function).toEqual({ name: "look", parameters: jsonSchema, strict: true });
  expect(resultsIn((await parley.runTools(forced(tool))).messages)).toEqual([expect.stringMatching(/^\d+$/)]);
  expect(() => defineTool({ name: "look", parameters, run: () => "" })).toThrow(/"look" offers no JSON Schema/);
});
