import {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  OpenAI,
  RateLimitError,
} from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { modelId, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { faultScenarios, readAborted } from "./faults.ts";

/** The OpenAI SDK, unmodified. Only its base URL and its key are set. */
const connect = (server: TestServer, apiKey = testKey): OpenAI =>
  new OpenAI({ baseURL: server.baseUrl, apiKey, maxRetries: 0 });

const question = [{ role: "user" as const, content: "What is a reentrancy attack?" }];

describe("with the real models", () => {
  let server: TestServer;
  let openai: OpenAI;
  beforeAll(async () => {
    server = await startTestServer({ settings: { engine: "embedded" } });
    openai = connect(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("lists and retrieves models", async () => {
    const ids = (await openai.models.list()).data.map((model) => model.id);
    expect(ids).toEqual(["vendor/model-1", "vendor/model-1-mini"]);
    expect((await openai.models.retrieve(modelId)).id).toBe(modelId);
  });

  test.each(["vendor/model-1", "vendor/model-1-mini"])(
    "%s gives the same greedy answer plain and streamed",
    async (model) => {
      const plain = await openai.chat.completions.create({ model, messages: question, temperature: 0 });
      const stream = openai.chat.completions.stream({
        model,
        messages: question,
        temperature: 0,
        stream_options: { include_usage: true },
      });
      const streamed = await stream.finalChatCompletion();
      expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content);
      expect(streamed.usage).toEqual(plain.usage);
      expect(plain.usage?.total_tokens).toBe((plain.usage?.prompt_tokens ?? 0) + (plain.usage?.completion_tokens ?? 0));
    },
  );

  test("gives n choices", async () => {
    const { choices, usage } = await openai.chat.completions.create({
      model: modelId,
      messages: question,
      n: 3,
      seed: 1,
      max_tokens: 8,
    });
    expect(choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(usage?.completion_tokens).toBeLessThanOrEqual(24);
  });

  const tool = {
    type: "function" as const,
    function: {
      name: "get_balance",
      description: "Balance of an account",
      parameters: {
        type: "object",
        // The members are enumerations: a small model might write a free text up to the token limit, and the call would be
        // incomplete.
        properties: { account: { enum: ["treasury", "payroll"] }, chain: { enum: ["ethereum", "polygon"] } },
        required: ["account", "chain"],
        additionalProperties: false,
      },
    },
  };

  test("calls a tool, plain and streamed, with arguments that fit its schema", async () => {
    const request = {
      model: modelId,
      messages: question,
      tools: [tool],
      tool_choice: "required" as const,
      max_tokens: 200,
      temperature: 0,
    };
    const plain = (await openai.chat.completions.create({ ...request, parallel_tool_calls: false })).choices[0];
    const streamed = (
      await openai.chat.completions.stream({ ...request, parallel_tool_calls: false }).finalChatCompletion()
    ).choices[0];
    for (const choice of [plain, streamed]) {
      expect(choice?.finish_reason).toBe("tool_calls");
      expect(choice?.message.tool_calls).toHaveLength(1);
      const call = choice?.message.tool_calls?.[0];
      expect(call).toMatchObject({ type: "function", function: { name: "get_balance" } });
      const parsed: unknown = JSON.parse(call?.type === "function" ? call.function.arguments : "");
      expect(parsed).toEqual({
        account: expect.stringMatching(/^(treasury|payroll)$/) as unknown,
        chain: expect.stringMatching(/^(ethereum|polygon)$/) as unknown,
      });
    }
  });

  test("parses structured output into its type", async () => {
    const verdict = z.object({ is_safe: z.boolean(), severity: z.enum(["low", "high"]) });
    const completion = await openai.chat.completions.parse({
      model: modelId,
      messages: question,
      response_format: zodResponseFormat(verdict, "verdict"),
      temperature: 0,
    });
    expect(verdict.safeParse(completion.choices[0]?.message.parsed).success).toBe(true);
  });
});

describe("with scripted faults", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenarios: faultScenarios });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const say = (content: string): { model: string; messages: { role: "user"; content: string }[] } => ({
    model: modelId,
    messages: [{ role: "user", content }],
  });

  const errorClasses: readonly (readonly [
    string,
    (openai: OpenAI) => PromiseLike<unknown>,
    new (...args: never[]) => Error,
    number,
    string,
  ])[] = [
    [
      "a bad value",
      (openai) => openai.chat.completions.create({ ...say("x"), temperature: 3 }),
      BadRequestError,
      400,
      "invalid_value",
    ],
    [
      "a wrong key",
      () => connect(server, "wrong-key-0123456789").models.list(),
      AuthenticationError,
      401,
      "invalid_api_key",
    ],
    [
      "a spent budget",
      async () => connect(server, await server.makeKey({ budgetUsd: "0" })).chat.completions.create(say("x")),
      APIError,
      402,
      "insufficient_quota",
    ],
    [
      "an unknown model",
      (openai) => openai.chat.completions.create({ ...say("x"), model: "vendor/none" }),
      NotFoundError,
      404,
      "model_not_found",
    ],
    [
      "a limit",
      async () => connect(server, await server.makeKey({ tokensPerMinute: 1 })).chat.completions.create(say("x")),
      RateLimitError,
      429,
      "rate_limit_exceeded",
    ],
    [
      "a failing engine",
      (openai) => openai.chat.completions.create(say("script:fail")),
      InternalServerError,
      502,
      "upstream_error",
    ],
    [
      "a prompt that is too long",
      (openai) => openai.chat.completions.create(say("x".repeat(200_000))),
      BadRequestError,
      400,
      "context_length_exceeded",
    ],
  ];

  test.each(errorClasses)("%s is an error of the SDK's own class", async (_title, call, errorClass, status, code) => {
    const error: unknown = await call(connect(server)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ status, code, requestID: expect.stringMatching(/^req_/) as unknown });
  });

  test("a failure in mid-stream is thrown, after what came before it", async () => {
    const seen: string[] = [];
    const stream = await connect(server).chat.completions.create({ ...say("script:fail-late"), stream: true });
    const reading = (async () => {
      for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content ?? "");
    })();
    await expect(reading).rejects.toThrow(/engine failed/);
    expect(seen.join("")).toBe("one two");
  });

  test("leaving the loop stops the generation", async () => {
    const before = await readAborted(server);
    const stream = await connect(server).chat.completions.create({ ...say("script:endless"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await until(
      () => readAborted(server),
      (aborted) => aborted === before + 1,
      1000,
    );
  });
});
