import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { APICallError, Output, generateText, jsonSchema, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { modelId, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { faultScenarios, readAborted } from "./faults.ts";

/** The Vercel AI SDK with its provider for compatible services, unmodified. */
const connect = (server: TestServer, apiKey = testKey): OpenAICompatibleProvider =>
  createOpenAICompatible({
    name: "parley",
    baseURL: server.baseUrl,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const prompt = "What is a reentrancy attack?";

describe("with the real models", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { engine: "embedded" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("gives the same greedy answer plain and streamed, with usage", async () => {
    const model = connect(server)(modelId);
    const plain = await generateText({ model, prompt, temperature: 0 });
    const streamed = streamText({ model, prompt, temperature: 0 });
    expect(await streamed.text).toBe(plain.text);
    const usage = await streamed.usage;
    expect(usage.inputTokens).toBe(plain.usage.inputTokens);
    expect(usage.outputTokens).toBe(plain.usage.outputTokens);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  test("calls a tool", async () => {
    const inputSchema = jsonSchema({
      type: "object",
      properties: { chain: { enum: ["ethereum", "polygon"] } },
      required: ["chain"],
      additionalProperties: false,
    });
    const { toolCalls, finishReason } = await generateText({
      model: connect(server)(modelId),
      prompt,
      temperature: 0,
      tools: { get_gas_price: tool({ inputSchema }) },
      toolChoice: "required",
      maxOutputTokens: 300,
    });
    expect(finishReason).toMatch(/^(tool-calls|length)$/);
    expect(toolCalls[0]).toMatchObject({
      toolName: "get_gas_price",
      input: { chain: expect.stringMatching(/^(ethereum|polygon)$/) as unknown },
    });
  });

  test("parses structured output into its type", async () => {
    const schema = z.object({ is_safe: z.boolean(), severity: z.enum(["low", "high"]) });
    const { output } = await generateText({
      model: connect(server)(modelId),
      prompt,
      temperature: 0,
      output: Output.object({ schema }),
    });
    expect(schema.safeParse(output).success).toBe(true);
  });
});

describe("with scripted faults", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenarios: faultScenarios });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const ask = (text: string, model = modelId, apiKey = testKey): Promise<unknown> =>
    generateText({ model: connect(server, apiKey)(model), prompt: text, maxRetries: 0 });

  const faults: readonly (readonly [string, () => Promise<unknown>, number, RegExp, boolean])[] = [
    ["a wrong key", () => ask("x", modelId, "wrong-key-0123456789"), 401, /Incorrect API key provided/, false],
    ["a spent budget", async () => ask("x", modelId, await server.makeKey({ budgetUsd: "0" })), 402, /budget/, false],
    ["an unknown model", () => ask("x", "vendor/none"), 404, /does not exist/, false],
    ["a limit", async () => ask("x", modelId, await server.makeKey({ tokensPerMinute: 1 })), 429, /limit/, true],
    ["a failing engine", () => ask("script:fail"), 502, /engine failed/, true],
    ["a prompt that is too long", () => ask("x".repeat(200_000)), 400, /maximum context length is 32768 tokens/, false],
  ];

  test.each(faults)(
    "%s is an API call error with its message and retry advice",
    async (_title, call, statusCode, message, isRetryable) => {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode, isRetryable, message: expect.stringMatching(message) as unknown });
    },
  );

  test("a failure in mid-stream is reported, after what came before it", async () => {
    const seen: string[] = [];
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: connect(server)(modelId),
      prompt: "script:fail-late",
      onError: ({ error }) => void errors.push(error),
    });
    for await (const part of fullStream) if (part.type === "text-delta") seen.push(part.text);
    expect(seen.join("")).toBe("one two");
    expect(errors).toHaveLength(1);
  });

  test("aborting stops the generation", async () => {
    const before = await readAborted(server);
    const controller = new AbortController();
    const { textStream } = streamText({
      model: connect(server)(modelId),
      prompt: "script:endless",
      abortSignal: controller.signal,
      onError: () => undefined,
    });
    for await (const text of textStream) if (text !== "") break;
    controller.abort();
    await until(
      () => readAborted(server),
      (aborted) => aborted === before + 1,
      1000,
    );
  });
});
