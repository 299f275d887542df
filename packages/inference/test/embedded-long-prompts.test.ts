import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { neverEnding, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

/** A model with a long-prompt notice, like the demonstration models: real weights, and every form of answer. */

const maxPromptTokens = 200;

let started: StartedEngine;
beforeAll(async () => {
  started = await startMini({
    processors: { longPrompt: { maxPromptTokens, notice: "This prompt has {tokens} tokens." } },
  });
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const long: Ask = { say: `What is a blockchain? ${"Every word counts. ".repeat(80)}`, seed: undefined };
const getTime = { name: "get_time", description: undefined, parameters: undefined };

describe("a prompt of more tokens than the model was trained on is answered with the notice", () => {
  test.each<[string, Ask]>([
    ["at temperature 0", {}],
    ["at any temperature", { sampling: { temperature: 2 } }],
    ["with a seed", { seed: "7" }],
    ["with functions that it may call", { tools: [getTime], toolChoice: "auto" }],
    ["with penalties", { sampling: { frequency_penalty: 2, presence_penalty: 2, repetition_penalty: 2 } }],
    ["with log-probabilities", { topLogprobs: 3 }],
    ["as a whole", { isWhole: true }],
  ])("%s", async (_title, members) => {
    const { text, finish, usage } = await askOne(started.engine, { ...long, maxTokens: 60, ...members });
    expect([text, finish]).toEqual([`This prompt has ${usage.promptTokens} tokens.`, "stop"]);
    expect(usage.completionTokens).toBeGreaterThan(text.length / 5);
  });

  test("with any bias of the caller", async () => {
    const logit_bias = await neverEnding();
    const { text, finish } = await askOne(started.engine, { ...long, maxTokens: 60, sampling: { logit_bias } });
    expect([text, finish]).toEqual([expect.stringMatching(/^This prompt has \d+ tokens\.$/), "stop"]);
  });

  test("in every choice, and not as a thought", async () => {
    const { choices } = await ask(started.engine, { ...long, maxTokens: 60, n: 2, isReasoning: true });
    for (const { text, reasoning } of choices) {
      expect(text).toMatch(/^This prompt has \d+ tokens\.$/);
      expect(reasoning.trim()).toBe("");
    }
  });

  test("up to its maximum, and to its stop string", async () => {
    expect(await askOne(started.engine, { ...long, maxTokens: 2 })).toMatchObject({ finish: "length" });
    const stopped = await askOne(started.engine, { ...long, maxTokens: 60, stop: [" has"] });
    expect([stopped.text, stopped.finish]).toEqual(["This prompt", "stop"]);
  });
});

describe("the notice stays away", () => {
  test("from a prompt that is short enough", async () => {
    const { text, usage } = await askOne(started.engine, { say: "What is a blockchain?" });
    expect(usage.promptTokens).toBeLessThanOrEqual(maxPromptTokens);
    expect(text).not.toContain("This prompt");
  });

  test("from JSON and from a call that is required: they keep their form", async () => {
    const format = {
      type: "json_schema",
      schema: { type: "object", properties: { a: { enum: [1, 2] } }, required: ["a"], additionalProperties: false },
    } as const;
    expect((await askOne(started.engine, { ...long, format, maxTokens: 60 })).text).toMatch(/^\{\s*"a":\s*[12]\s*\}$/);
    const forced: Ask = { tools: [getTime], toolChoice: { oneOf: ["get_time"] }, parallelToolCalls: false };
    const { calls, finish } = await askOne(started.engine, { ...long, ...forced, maxTokens: 60 });
    expect([calls.map(({ name }) => name), finish]).toEqual([["get_time"], "tool_calls"]);
  });
});
