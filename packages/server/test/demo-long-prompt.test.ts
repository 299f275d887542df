import { describe, expect, test } from "vitest";
import { findDemoModel } from "../src/models/demo-models.ts";
import { miniId, say, startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** Open WebUI sends 36 functions with every question. The demonstration models were trained with fewer. */

const demo = (settings: object = {}) =>
  startTestServer({ settings: { models: { "model-1-mini": settings }, engine: "embedded", kvMemoryMb: 128 } });

const offer = (count: number): object[] =>
  Array.from({ length: count }, (_, number) => ({
    type: "function",
    function: {
      name: `search_notes_${number}`,
      description: `Searches ${"the notes and chats of the user, ".repeat(8)} and returns what it finds as JSON.`,
      parameters: {
        type: "object",
        properties: { query: { type: "string", description: "The text to look for" }, count: { type: "integer" } },
        required: ["query"],
      },
    },
  }));

const question = { ...say("What is a reentrancy attack?"), model: miniId, temperature: 0 };

async function listed(server: TestServer): Promise<number | undefined> {
  const object = (await (await server.fetch(`/models/${miniId}`)).json()) as {
    readonly trained_prompt_tokens?: number;
  };
  return object.trained_prompt_tokens;
}

describe("a demonstration model", () => {
  test("is listed with the longest prompt that it was trained on, and says so of a longer one", async () => {
    await using server = await demo();
    expect(await listed(server)).toBe(1342);
    const { choices, usage } = await server.complete({ ...question, tools: offer(36) });
    expect(usage.prompt_tokens).toBeGreaterThan(5000);
    expect(choices[0]).toMatchObject({
      finish_reason: "stop",
      message: {
        content:
          `I am a small demonstration model. I was trained on prompts of up to 1342 tokens, and this one has ${usage.prompt_tokens}, ` +
          "so my answer would be noise. Send fewer functions or a shorter conversation.",
      },
    });
    expect((await server.stream({ ...question, tools: offer(36) })).text).toBe(choices[0]?.message.content);
    const [few] = (await server.complete({ ...question, tools: offer(4) })).choices;
    expect(few?.message.content).not.toContain("I was trained on prompts");
  });

  test("says nothing of the kind where its operator wants its answers to long prompts", async () => {
    await using server = await demo({ trained_prompt_tokens: 32_768 });
    expect(await listed(server)).toBe(32_768);
    const { choices } = await server.complete({ ...question, tools: offer(36), max_tokens: 20 });
    expect(choices[0]?.message.content).not.toContain("I was trained");
  });
});

describe("a model of the operator's own", () => {
  const own = { gguf: findDemoModel("model-1-mini").file };

  test("is listed without the member, and its answers are its own", async () => {
    await using server = await demo(own);
    expect(await listed(server)).toBeUndefined();
    const { choices } = await server.complete({ ...question, tools: offer(36), max_tokens: 20 });
    expect(choices[0]?.message.content).not.toContain("I was trained");
  });

  test("is listed with what the operator knows of it, at most its context, and still answers on its own", async () => {
    await using server = await demo({ ...own, trained_prompt_tokens: 4096, context_length: 8192 });
    expect(await listed(server)).toBe(4096);
    await using small = await demo({ ...own, trained_prompt_tokens: 4096, context_length: 2048 });
    expect(await listed(small)).toBe(2048);
  });
});
