import { ChatOpenAI } from "@langchain/openai";
import type { ChatOpenAIFields } from "@langchain/openai";
import { tool } from "@langchain/core/tools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { modelId, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { faultScenarios, readAborted } from "./faults.ts";

/** LangChain's OpenAI integration, unmodified. */
const connect = (server: TestServer, fields: Partial<ChatOpenAIFields> = {}): ChatOpenAI =>
  new ChatOpenAI({
    model: modelId,
    apiKey: testKey,
    maxRetries: 0,
    configuration: { baseURL: server.baseUrl },
    ...fields,
  });

/** LangChain's own generic types lose this member. */
const outputTokensOf = (message: object): number | undefined =>
  "usage_metadata" in message
    ? (message.usage_metadata as { output_tokens: number } | undefined)?.output_tokens
    : undefined;

const question = "What is a reentrancy attack?";

describe("with the real models", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { engine: "embedded" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("gives the same greedy answer plain and streamed, with usage", async () => {
    const chat = connect(server, { temperature: 0, streamUsage: true });
    const plain = await chat.invoke(question);
    let streamed = "";
    let outputTokens: number | undefined;
    for await (const chunk of await chat.stream(question)) {
      streamed += chunk.text;
      outputTokens = outputTokensOf(chunk) ?? outputTokens;
    }
    expect(streamed).toBe(plain.text);
    expect(outputTokens).toBe(outputTokensOf(plain));
  });

  test("gives n generations", async () => {
    const { generations } = await connect(server, { n: 2, maxTokens: 8 }).generate([[["human", question]]]);
    expect(generations[0]).toHaveLength(2);
  });

  test("calls a bound tool", async () => {
    const schema = z.object({ chain: z.enum(["ethereum", "polygon"]) });
    const gasPrice = tool(async () => "12 gwei", {
      name: "get_gas_price",
      description: "Gas price of a chain",
      schema,
    });
    const chat = connect(server, { temperature: 0, maxTokens: 300 }).bindTools([gasPrice], {
      tool_choice: "get_gas_price",
      parallel_tool_calls: false,
    });
    const { tool_calls: calls } = await chat.invoke(question);
    expect(calls?.[0]).toMatchObject({ name: "get_gas_price" });
    expect(schema.safeParse(calls?.[0]?.args).success).toBe(true);
  });

  test("parses structured output into its type", async () => {
    const schema = z.object({ is_safe: z.boolean(), severity: z.enum(["low", "high"]) });
    const verdict = await connect(server, { temperature: 0 })
      .withStructuredOutput(schema, { method: "jsonSchema" })
      .invoke(question);
    expect(schema.safeParse(verdict).success).toBe(true);
  });
});

describe("with scripted faults", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenarios: faultScenarios });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const faults: readonly (readonly [string, () => Promise<unknown>, Record<string, unknown>])[] = [
    ["a wrong key", () => connect(server, { apiKey: "wrong-key-0123456789" }).invoke("x"), { status: 401 }],
    [
      "a spent budget",
      async () => connect(server, { apiKey: await server.makeKey({ budgetUsd: "0" }) }).invoke("x"),
      { status: 402 },
    ],
    [
      "an unknown model",
      () => connect(server, { model: "vendor/none" }).invoke("x"),
      { status: 404, code: "model_not_found" },
    ],
    [
      "a limit",
      async () => connect(server, { apiKey: await server.makeKey({ tokensPerMinute: 1 }) }).invoke("x"),
      { status: 429 },
    ],
    ["a failing engine", () => connect(server).invoke("script:fail"), { status: 502 }],
    ["a prompt that is too long", () => connect(server).invoke("x".repeat(200_000)), { name: "ContextOverflowError" }],
  ];

  test.each(faults)("%s is told apart", async (_title, call, expected) => {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject(expected);
  });

  test("a failure in mid-stream is thrown, after what came before it", async () => {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of await connect(server).stream("script:fail-late")) seen.push(chunk.text);
    })();
    await expect(reading).rejects.toThrow(/engine failed/);
    expect(seen.join("")).toBe("one two");
  });

  test("leaving the loop stops the generation", async () => {
    const before = await readAborted(server);
    for await (const chunk of await connect(server).stream("script:endless")) if (chunk.text !== "") break;
    await until(
      () => readAborted(server),
      (aborted) => aborted === before + 1,
      1000,
    );
  });
});
