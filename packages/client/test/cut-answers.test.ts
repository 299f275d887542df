import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "@parley/server/testing";
import type { TestOptions, TestServer } from "@parley/server/testing";
import { IncompleteAnswerError, InvalidOutputError, collect, defineTool, jsonFormat } from "../src/index.ts";
import type { CreateRequest, Parley } from "../src/index.ts";
import { connect, errorOf, hello } from "./ask.ts";
import { playing } from "./scenarios.ts";
import { answer, completion, done, startStub, stream } from "./stub-server.ts";

/** Answers that end before the model is done, and answers from which a gateway has removed members. */

const neverRun = defineTool({
  name: "look",
  parameters: z.object({ at: z.int() }),
  run: () => expect.unreachable("a call of a cut answer was run"),
});
const response_format = jsonFormat({ name: "any", schema: z.unknown(), jsonSchema: {} });

/** The methods that do not show a finish reason. */
const hiding: readonly (readonly [name: string, ask: (parley: Parley, request: CreateRequest) => Promise<unknown>])[] =
  [
    ["runTools()", (parley, request) => parley.runTools({ ...request, tools: [neverRun] })],
    ["parse()", (parley, request) => parley.parse({ ...request, response_format })],
    ["finalMessage()", (parley, request) => parley.stream(request).finalMessage()],
    ["finalText()", (parley, request) => parley.stream(request).finalText()],
  ];

describe("an answer that the service ends early", () => {
  const call = { tool: { index: 0, name: "look", arguments: "" } };
  const scenarios: NonNullable<TestOptions["scenarios"]> = {
    "before a name": [{ role: true }, { finish: "length" }],
    "in arguments": [{ role: true }, call, { tool: { index: 0, arguments: '{"at":' } }, { finish: "length" }],
    "after a call": [{ role: true }, call, { tool: { index: 0, arguments: '{"at":1}' } }, { finish: "length" }],
    "in text": [{ role: true }, { text: '{"a":1}' }, { finish: "length" }],
    withheld: [{ role: true }, { text: "1" }, { finish: "content_filter" }],
  };
  let server: TestServer;
  let parley: Parley;
  beforeAll(async () => {
    server = await startTestServer({ scenarios });
    parley = connect(server.baseUrl, { maxRetries: 0 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const cuts = [
    ["before a name", "length", "", 'ended with "length", before any text, and before a tool call had a name.'],
    ["in arguments", "length", "", 'ended with "length", in or after its call of "look".'],
    ["after a call", "length", "", 'ended with "length", in or after its call of "look".'],
    ["in text", "length", '{"a":1}', 'ended with "length", in its text.'],
    ["withheld", "content_filter", "1", 'ended with "content_filter", in its text.'],
  ] as const;

  describe.each(hiding)("%s throws it, with the part that arrived", (_method, ask) => {
    test.each(cuts)("%s", async (name, finishReason, text, message) => {
      const error = await errorOf(ask(parley, playing(name)));
      expect(error).toBeInstanceOf(IncompleteAnswerError);
      expect(error).toBeInstanceOf(InvalidOutputError);
      expect(error).toMatchObject({
        name: "IncompleteAnswerError",
        message: `The answer ${message}`,
        finishReason,
        text,
        requestId: expect.stringMatching(/^req_/),
        completion: { choices: [{ finish_reason: finishReason }] },
      });
    });
  });

  test.each(cuts)("create() and collect() return it unchanged, and agree: %s", async (name, finishReason) => {
    const plain = await parley.create(playing(name));
    const collected = await collect(parley.stream(playing(name)));
    expect(plain.choices[0]?.finish_reason).toBe(finishReason);
    const [whole, pieces] = [plain, collected].map(({ choices: [choice] }) => choice?.message);
    const withoutIds = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/"call_[^"]*"/g, '""'));
    expect(withoutIds(pieces)).toEqual(withoutIds(whole));
  });

  test("runTools() keeps the conversation before it", async () => {
    const request = playing("in arguments");
    const error = await errorOf(parley.runTools({ ...request, tools: [neverRun] }));
    expect(error).toHaveProperty("messages", request.messages);
  });
});

type Json = Readonly<Record<string, unknown>>;
const called = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
const plain = (message: Json, rest: Json = {}): Json => {
  const [choice] = completion.choices;
  return { ...completion, choices: [{ ...choice, message: { ...choice?.message, ...message }, ...rest }] };
};

describe("a plain answer that a gateway has changed", () => {
  test.each([
    ["without a finish_reason", plain({}, { finish_reason: null }), "has no finish_reason."],
    ["that is a refusal", plain({ content: null, refusal: "No." }), "is a refusal: No.."],
    [
      "that calls no tool",
      plain({ content: null }, { finish_reason: "tool_calls" }),
      "asks for tool calls and has none.",
    ],
    [
      "whose call has no name",
      plain({ tool_calls: [called, { ...called, function: { arguments: "" } }] }, { finish_reason: "tool_calls" }),
      "has a tool call without an id or a name.",
    ],
    [
      "whose call has no id",
      plain({ tool_calls: [{ ...called, id: null }] }, { finish_reason: "tool_calls" }),
      "has a tool call without an id or a name.",
    ],
    [
      "whose call has no function",
      plain({ tool_calls: [{ id: "call_1" }] }),
      "has a tool call without an id or a name.",
    ],
  ])("%s is incomplete for runTools() and parse()", async (_title, body, message) => {
    await using stub = await startStub(answer(200, body));
    for (const [, ask] of hiding.slice(0, 2)) {
      const error = await errorOf(ask(connect(stub.baseURL), hello));
      expect(error).toBeInstanceOf(IncompleteAnswerError);
      expect(error).toMatchObject({ message: `The answer ${message}`, completion: body, requestId: "req_stub" });
    }
  });

  test.each([
    ["without choices", { ...completion, choices: [] }],
    ["with null as choices", { ...completion, choices: null }],
    ["without a message", { ...completion, choices: [{ index: 0, finish_reason: "stop" }] }],
  ])("%s is malformed", async (_title, body) => {
    await using stub = await startStub(answer(200, body));
    for (const [, ask] of hiding.slice(0, 2))
      expect(await errorOf(ask(connect(stub.baseURL), hello))).toHaveProperty("code", "malformed_response");
  });

  test("with a finish_reason of a later version ends like any other", async () => {
    await using stub = await startStub(
      answer(200, plain({ content: "1", role: "narrator" }, { finish_reason: "rested" })),
    );
    const parley = connect(stub.baseURL);
    expect((await parley.parse({ ...hello, response_format })).parsed).toBe(1);
    expect((await parley.runTools({ ...hello, tools: [neverRun] })).message.content).toBe("1");
  });
});

describe("a stream that a gateway has changed", () => {
  const chunk = (delta: unknown, rest: Json = {}): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }];
    return `data: ${JSON.stringify({ ...completion, object: "chat.completion.chunk", usage: null, choices })}\n\n`;
  };
  const tool = (piece: unknown): string => chunk({ tool_calls: [piece] });
  const end = (reason: string): string => chunk({}, { finish_reason: reason }) + done;
  const collected = async (bytes: string) => {
    await using stub = await startStub(stream(bytes));
    const { choices } = await collect(connect(stub.baseURL).stream(hello));
    return choices[0]?.message;
  };

  test.each([
    [
      "without arguments",
      [
        { ...called, index: 0, function: { name: "look" } },
        { index: 0, function: { arguments: "{}" } },
      ],
    ],
    [
      "with null as arguments",
      [
        { ...called, index: 0, function: { name: "look", arguments: null } },
        { index: 0, function: { arguments: "{}" } },
      ],
    ],
    [
      "without a function",
      [
        { index: 0, id: "call_1" },
        { index: 0, function: { name: "look", arguments: "{}" } },
      ],
    ],
    [
      "with null as function",
      [
        { index: 0, id: "call_1", function: null },
        { index: 0, function: { name: "look", arguments: "{}" } },
      ],
    ],
    [
      "with the id and the name later",
      [
        { index: 0, id: null, function: { name: "", arguments: "{" } },
        { index: 0, id: "call_1", function: { name: "look", arguments: "}" } },
      ],
    ],
    [
      "with null as id and name after the first",
      [
        { ...called, index: 0, function: { name: "look", arguments: "{" } },
        { index: 0, id: null, function: { name: null, arguments: "}" } },
      ],
    ],
  ])("a call %s", async (_title, pieces) => {
    const message = await collected(pieces.map(tool).join("") + end("tool_calls"));
    expect(message?.tool_calls).toEqual([{ ...called, function: { name: "look", arguments: "{}" } }]);
  });

  test("null for what is absent, an unknown role and an unknown reason", async () => {
    const absent = { role: "narrator", content: null, reasoning: null, tool_calls: null };
    const bytes =
      chunk(absent) + chunk(null) + chunk({ content: "a" }, { logprobs: { content: null } }) + end("rested");
    expect(await collected(bytes)).toEqual({ role: "assistant", content: "a", refusal: null });
  });

  test("a refusal in pieces is a refusal", async () => {
    const bytes = chunk({ refusal: "N" }) + chunk({ refusal: "o." }) + end("stop");
    expect(await collected(bytes)).toEqual({ role: "assistant", content: "", refusal: "No." });
    await using stub = await startStub(stream(bytes));
    const error = await errorOf(connect(stub.baseURL).stream(hello).finalMessage());
    expect(error).toMatchObject({ name: "IncompleteAnswerError", message: "The answer is a refusal: No.." });
  });

  test.each([
    ["content", chunk({ content: [{ type: "text", text: "a" }] })],
    ["arguments", tool({ ...called, index: 0, function: { name: "look", arguments: { at: 1 } } })],
    ["a name", tool({ ...called, index: 0, function: { name: 1 } })],
  ])("something else than text as %s is malformed, and never becomes text", async (_title, bytes) => {
    expect(await errorOf(collected(bytes + end("stop")))).toHaveProperty("code", "malformed_response");
  });

  test("null as a choice or a call is left out", async () => {
    const nothing = `data: ${JSON.stringify({ ...completion, choices: [null] })}\n\n`;
    const bytes = nothing + tool(null) + chunk({ content: "a" }) + end("stop");
    expect(await collected(bytes)).toHaveProperty("content", "a");
  });

  // A list with such an index has a billion gaps: going through them took minutes.
  test("an index that is far too large is not an answer, and costs no time", { timeout: 5000 }, async () => {
    const far = chunk({ content: "a" }, { index: 999_999_999, finish_reason: "stop" }) + done;
    const farCall = tool({ ...called, index: 999_999_999 }) + end("tool_calls");
    for (const bytes of [far, farCall])
      expect(await errorOf(collected(bytes))).toHaveProperty("code", "malformed_response");
  });

  test("a call that was cut before its name is left out, and a call that never gets a name is an error", async () => {
    const nameless = tool({ index: 0, id: "call_1", function: { arguments: "" } });
    expect(await collected(nameless + end("length"))).toEqual({ role: "assistant", content: "", refusal: null });
    const gap = tool({ ...called, index: 1 });
    for (const bytes of [nameless + end("tool_calls"), gap + end("stop")])
      expect(await errorOf(collected(bytes))).toMatchObject({
        code: "incomplete_stream",
        chunks: [expect.anything(), expect.anything()],
      });
  });
});
