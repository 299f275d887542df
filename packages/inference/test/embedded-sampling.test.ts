import type { Token } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sampling } from "../src/index.ts";
import { openLlama } from "../src/embedded/child/open-llama.ts";
import { openRenderer } from "../src/embedded/child/open-renderer.ts";
import { askOne, requestFor } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { biasOn, miniModelFile, neverEnding, readMiniVocabulary, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

let started: StartedEngine;
let endless: Record<string, number>;
beforeAll(async () => {
  endless = await neverEnding();
  started = await startMini();
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const length = 48;
/** Generates 48 tokens with these sampling values. */
const write = (sampling: Partial<Sampling>, members: Ask = {}): Promise<Awaited<ReturnType<typeof askOne>>> =>
  askOne(started.engine, {
    maxTokens: length,
    ...members,
    sampling: { ...sampling, logit_bias: { ...endless, ...sampling.logit_bias } },
  });
const textOf = async (sampling: Partial<Sampling>, members?: Ask): Promise<string> =>
  (await write(sampling, members)).text;

describe("every sampling parameter changes the answer", () => {
  const warm = { temperature: 1.3 };
  test.each<[string, Partial<Sampling>, Partial<Sampling>]>([
    ["temperature", warm, { temperature: 0.3 }],
    ["temperature, up to its end", warm, { temperature: 2 }],
    ["top_p", warm, { ...warm, top_p: 0.3 }],
    ["top_k", warm, { ...warm, top_k: 2 }],
    ["min_p", warm, { ...warm, min_p: 0.5 }],
    ["frequency_penalty", {}, { frequency_penalty: 2 }],
    ["a negative frequency_penalty", { frequency_penalty: 2 }, { frequency_penalty: -2 }],
    ["presence_penalty", {}, { presence_penalty: 2 }],
    ["repetition_penalty", {}, { repetition_penalty: 2 }],
    ["a small repetition_penalty", { repetition_penalty: 2 }, { repetition_penalty: 0.01 }],
  ])("%s", async (_title, some, others) => {
    expect(await textOf(some)).not.toBe(await textOf(others));
  });

  test("seed", async () => {
    const texts = await Promise.all(["1", "2", "-1", undefined, undefined].map((seed) => textOf(warm, { seed })));
    expect(new Set(texts).size).toBe(5);
  });
});

test("a seed gives the same text with any other requests in the batch", async () => {
  const seeded = { temperature: 1.5 };
  const alone = await textOf(seeded, { seed: "5" });
  const others = Array.from({ length: 6 }, () => textOf(seeded, { seed: undefined }));
  expect(await textOf(seeded, { seed: "5" })).toBe(alone);
  expect(new Set(await Promise.all(others)).size).toBe(6);
});

describe("filters that leave one token are greedy", () => {
  test.each([
    ["top_k 1", { temperature: 2, top_k: 1 }],
    ["a tiny top_p", { temperature: 2, top_p: 1e-9 }],
    ["min_p 1", { temperature: 2, min_p: 1 }],
    ["a tiny temperature", { temperature: 1e-9 }],
    ["no temperature, whatever the filters", { temperature: 0, top_k: 40, top_p: 0.5, min_p: 0.2 }],
  ])("%s", async (_title, sampling) => {
    expect(await textOf(sampling)).toBe(await textOf({ temperature: 0 }));
  });
});

describe("filters that leave everything change nothing", () => {
  test.each([
    ["top_k beyond the vocabulary", { top_k: 1_000_000 }],
    ["top_k beyond 32 bits", { top_k: 2 ** 32 + 1 }],
    ["a bias on nobody", { logit_bias: { "99999999": 100 } }],
  ])("%s", async (_title, sampling) => {
    expect(await textOf({ temperature: 1, ...sampling })).toBe(await textOf({ temperature: 1 }));
  });
});

describe("logit_bias", () => {
  /** Returns the token ids of a greedy answer. */
  const greedyIds = async (): Promise<number[]> => (await write({})).tokens.flatMap((token) => token.id ?? []);

  test("100 forces a token, against every penalty", async () => {
    const [, forced = 0] = await greedyIds();
    const { tokens } = await write({
      temperature: 2,
      frequency_penalty: 2,
      presence_penalty: 2,
      repetition_penalty: 2,
      logit_bias: { [forced]: 100 },
    });
    expect(new Set(tokens.map((token) => token.id))).toEqual(new Set([forced]));
  });

  test("−100 bans a token", async () => {
    const banned = Object.fromEntries((await greedyIds()).map((id) => [id, -100]));
    const { tokens } = await write({ temperature: 0.5, frequency_penalty: -2, logit_bias: banned });
    expect(tokens.filter((token) => String(token.id) in banned)).toEqual([]);
  });

  test("a bias counts to the last tenth: below the lead of the likeliest token it changes nothing, above it does", async () => {
    const { tokens } = await write({}, { topLogprobs: 2 });
    const [likeliest, next] = tokens[0]?.top ?? [];
    const lead = (likeliest?.logprob ?? 0) - (next?.logprob ?? 0);
    const firstWith = async (bias: number) =>
      (await write({ logit_bias: { [tokens[0]?.id ?? 0]: bias } })).tokens[0]?.token;
    expect(await firstWith(-lead + 0.1)).toBe(likeliest?.token);
    expect(await firstWith(-lead - 0.1)).toBe(next?.token);
  });

  test.each([0, 1, 2])(
    "banning everything leaves text, and no special token, at temperature %i",
    async (temperature) => {
      const everything = Object.fromEntries(Array.from({ length: 3000 }, (_, id) => [id, -100]));
      const { text, usage } = await write({ temperature, logit_bias: everything });
      expect(usage.completionTokens).toBeGreaterThan(0);
      expect(text).not.toMatch(/<\/?(think|tool_call|tool_response|\|.*\|)>/);
    },
  );

  test("forcing a special token makes no call and no reasoning", async () => {
    const specialTokens = [
      "<|im_start|>",
      "<think>",
      "</think>",
      "<tool_call>",
      "</tool_call>",
      "<tool_response>",
      "<|unused_0|>",
    ];
    const forced = biasOn(await readMiniVocabulary(), specialTokens, 100);
    const { text, reasoning, calls } = await askOne(started.engine, { sampling: { logit_bias: forced } });
    expect([reasoning, calls]).toEqual(["", []]);
    expect(specialTokens.filter((spelling) => text.includes(spelling))).toEqual([]);
  });

  test("banning what a grammar needs does not break it", async () => {
    const everything = Object.fromEntries(Array.from({ length: 3000 }, (_, id) => [id, -100]));
    const format = {
      type: "json_schema",
      schema: {
        type: "object",
        properties: { a: { enum: ["x", "y"] } },
        required: ["a"],
        additionalProperties: false,
      },
    } as const;
    const { text, finish } = await askOne(started.engine, {
      format,
      maxTokens: 60,
      sampling: { logit_bias: everything },
    });
    expect([finish, /^\{"a": ?"[xy]"\}$/.test(text)]).toEqual(["stop", true]);
  });
});

describe("log-probabilities", () => {
  test("are those of the unfiltered distribution, for any sampling parameters", async () => {
    const first = async (sampling: Partial<Sampling>): Promise<unknown> =>
      (await write(sampling, { topLogprobs: 20, maxTokens: 1 })).tokens[0]?.top;
    const want = await first({});
    const filtered = [
      { temperature: 2 },
      { top_k: 1 },
      { top_p: 0.1 },
      { min_p: 1 },
      { repetition_penalty: 2 },
      { logit_bias: { "97": 50 } },
    ];
    for (const sampling of filtered) expect(await first(sampling)).toEqual(want);
  });

  test("are those that llama.cpp itself computes, after a prompt of several batches", async () => {
    const say = "Every word counts. ".repeat(60);
    const { tokens } = await askOne(started.engine, {
      say,
      maxTokens: 1,
      topLogprobs: 5,
      sampling: { logit_bias: endless },
    });
    const prompt = (await openRenderer(miniModelFile)).render(requestFor({ say })).tokens;
    const want = await likelihoods(prompt, 5);
    const got = (tokens[0]?.top ?? []).map((one) => Math.exp(one.logprob));
    expect(got.map((probability, place) => Math.abs(probability - (want[place] ?? 0)) < 0.02)).toEqual(
      want.map(() => true),
    );
  });

  test("are a distribution: greedy takes the first, and no sum exceeds 1", async () => {
    const { tokens } = await askOne(started.engine, { topLogprobs: 20, maxTokens: length });
    for (const { id, token, logprob, top = [] } of tokens) {
      expect([top[0]?.token, top[0]?.logprob]).toEqual([token, logprob]);
      expect(id).toBeGreaterThanOrEqual(0);
      const sum = top.reduce((total, one) => total + Math.exp(one.logprob), 0);
      expect(sum).toBeGreaterThan(0);
      expect(sum).toBeLessThan(1.0001);
    }
  });

  test("name no special token that an answer cannot have, even a likely one: greedy takes the first of every list", async () => {
    // The model was not trained for this prompt. Its likeliest token closes reasoning that was not opened.
    const { tokens } = await askOne(started.engine, { say: "Name three colours.", topLogprobs: 5, maxTokens: 16 });
    expect(tokens.length).toBeGreaterThan(0);
    for (const { token, top = [] } of tokens) {
      expect([top.length, top[0]?.token]).toEqual([5, token]);
      for (const one of top) expect(one.token).not.toMatch(/^<\/?(think|tool_call|tool_response)>$/);
    }
  });

  test("name the chosen token, too, where it is not among the first", async () => {
    const { tokens } = await write({ temperature: 2, logit_bias: { "97": 100 } }, { topLogprobs: 1, maxTokens: 3 });
    for (const { logprob = 0, top = [] } of tokens) expect(logprob).toBeLessThan(top[0]?.logprob ?? 0);
  });

  test("asking for them changes nothing in the text", async () => {
    const sampling = { temperature: 1.2, frequency_penalty: 1, repetition_penalty: 1.2 };
    expect(await textOf(sampling, { topLogprobs: 20 })).toBe(await textOf(sampling));
  });
});

/** Returns the highest probabilities of the token after a prompt, by llama.cpp's public interface. */
async function likelihoods(prompt: readonly number[], count: number): Promise<number[]> {
  const llama = await openLlama(1);
  const model = await llama.loadModel({ modelPath: miniModelFile, ignoreMemorySafetyChecks: true });
  const context = await model.createContext({ contextSize: 1024, threads: 1, ignoreMemorySafetyChecks: true });
  const plain = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  // A token is a number with a brand.
  const evaluation = context.getSequence().evaluateWithMetadata([...prompt] as Token[], { probabilities: true }, plain);
  const { value } = await evaluation.next();
  await evaluation.return();
  return [...(value?.probabilities?.values() ?? [])].toSorted((a, b) => b - a).slice(0, count);
}
