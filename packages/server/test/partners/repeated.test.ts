import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import { OpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelId, startCuttingFront, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** SDKs that send an idempotency key by the headers of a request, unmodified. */

/** Sends a question with an idempotency key, and returns the text of the answer. */
type Ask = (baseURL: string, content: string, name: string) => Promise<string>;

const headersOf = (name: string): Record<string, string> => ({ "Idempotency-Key": name });
const openai = (baseURL: string): OpenAI => new OpenAI({ baseURL, apiKey: testKey });
const langchain = (baseURL: string, name: string): ChatOpenAI =>
  new ChatOpenAI({ model: modelId, apiKey: testKey, configuration: { baseURL, defaultHeaders: headersOf(name) } });
const aiModel = (baseURL: string) => createOpenAICompatible({ name: "parley", baseURL, apiKey: testKey })(modelId);

const sdks: readonly (readonly [title: string, ask: Ask])[] = [
  [
    "OpenAI, plain",
    async (baseURL, content, name) => {
      const asked = { model: modelId, messages: [{ role: "user" as const, content }] };
      const answer = await openai(baseURL).chat.completions.create(asked, { headers: headersOf(name) });
      return answer.choices[0]?.message.content ?? "";
    },
  ],
  [
    "OpenAI, streamed",
    async (baseURL, content, name) => {
      const asked = { model: modelId, messages: [{ role: "user" as const, content }], stream: true as const };
      const stream = await openai(baseURL).chat.completions.create(asked, { headers: headersOf(name) });
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      return text;
    },
  ],
  ["LangChain, plain", async (baseURL, content, name) => (await langchain(baseURL, name).invoke(content)).text],
  [
    "LangChain, streamed",
    async (baseURL, content, name) => {
      let text = "";
      for await (const chunk of await langchain(baseURL, name).stream(content)) text += chunk.text;
      return text;
    },
  ],
  [
    "Vercel AI SDK, plain",
    async (baseURL, prompt, name) =>
      (await generateText({ model: aiModel(baseURL), prompt, headers: headersOf(name) })).text,
  ],
  [
    "Vercel AI SDK, streamed",
    async (baseURL, prompt, name) => streamText({ model: aiModel(baseURL), prompt, headers: headersOf(name) }).text,
  ],
];

let server: TestServer;
beforeAll(async () => {
  const word = [{ text: "a " }, { wait_ms: 100 }] as const;
  server = await startTestServer({
    scenarios: { slow: [{ role: true }, { repeat: 8, steps: word }, { finish: "stop" }] },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each(sdks)("%s", (title, ask) => {
  /** Expects one more entry of the ledger, which is charged. */
  async function expectOneCharge(before: number): Promise<void> {
    const rows = await until(
      async () => (await server.ledger()).slice(before),
      (all) => all.every(({ outcome }) => outcome !== "open"),
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(["complete"]);
    expect(Number(rows[0]?.cost_usd)).toBeGreaterThan(0);
  }

  test("gets its answer again", async () => {
    const before = (await server.ledger()).length;
    const texts = [await ask(server.baseUrl, "Hello", title), await ask(server.baseUrl, "Hello", title)];
    expect(texts).toEqual(["You said: Hello", "You said: Hello"]);
    await expectOneCharge(before);
  });

  test.each(["asked", "answered"] as const)(
    "repeats a request whose connection is cut when it is %s, and pays once",
    async (at) => {
      const before = (await server.ledger()).length;
      await using front = await startCuttingFront(server.origin, at);
      const name = `${title} ${at}`;
      expect((await ask(front.baseUrl, "script:slow", name)).trim()).toBe("a a a a a a a a");
      expect(front.keys.length).toBeGreaterThan(1);
      expect(new Set(front.keys)).toEqual(new Set([name]));
      await expectOneCharge(before);
    },
    20_000,
  );
});
