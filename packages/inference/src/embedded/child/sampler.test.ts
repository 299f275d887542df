import { describe, expect, test } from "vitest";
import { neutral } from "../../../testing/requests.ts";
import type { Sampling } from "../../engine.ts";
import { LoopPenalty } from "./loop-penalty.ts";
import type { LogitsProcessor } from "./logits-processors.ts";
import { ChoiceSampler, foldSeed } from "./sampler.ts";

describe("a seed", () => {
  const fixed = (): number => 0.5;
  test("is the same number every time, and another one for its neighbours, its negative and its opposite end", () => {
    const seeds = ["0", "1", "-1", "2", "-2", "42", "4294967296", "9223372036854775807", "-9223372036854775808"];
    const folded = seeds.map((seed) => foldSeed(seed, 0, fixed));
    expect(new Set(folded).size).toBe(seeds.length);
    expect(seeds.map((seed) => foldSeed(seed, 0, Math.random))).toEqual(folded);
  });

  test("of choice i is the seed plus i, around the end of the numbers, too", () => {
    expect(foldSeed("7", 3, fixed)).toBe(foldSeed("10", 0, fixed));
    expect(foldSeed("9223372036854775807", 1, fixed)).toBe(foldSeed("-9223372036854775808", 0, fixed));
  });

  test("that is absent is drawn, and never the one that llama.cpp takes for none", () => {
    expect(foldSeed(undefined, 0, () => 0)).toBe(0);
    expect(foldSeed(undefined, 0, () => 1 - 2 ** -53)).toBeLessThan(2 ** 32 - 1);
  });
});

describe("the sampler's configuration", () => {
  const samplerOf = (
    sampling: Sampling,
    prompt: readonly number[],
    ...processors: readonly LogitsProcessor[]
  ): ChoiceSampler => new ChoiceSampler({ sampling, seed: 1, prompt, vocabularySize: 10, processors });
  const biasOf = (sampler: ChoiceSampler, banned: readonly number[] = []): [number, number][] => {
    const { tokenBiasKeys = new Uint32Array(), tokenBiasValues = [] } = sampler.config(banned, undefined);
    return Array.from(tokenBiasKeys, (token, index) => [token, tokenBiasValues[index] ?? Number.NaN]);
  };

  test("ids outside the vocabulary, or that are none, have no effect", () => {
    const logit_bias = { "3": 1, "10": 2, "-1": 3, "": 4, "1e0": 5, "9": 0, "99999999999": 6 };
    expect(biasOf(samplerOf({ ...neutral, logit_bias }, []))).toEqual([[3, 1]]);
  });

  test("penalties count what was written, and come on top of the caller's bias", () => {
    const sampling = { ...neutral, frequency_penalty: 0.5, presence_penalty: 1, logit_bias: { "3": 4 } };
    const sampler = samplerOf(sampling, [5, 5]);
    for (const token of [3, 3, 4]) sampler.accept(token);
    expect(biasOf(sampler)).toEqual([
      [3, 4 - 2 * 0.5 - 1],
      [4, -1.5],
    ]);
  });

  test("no penalty outweighs 100, and no bias a ban of ours", () => {
    const sampling = { ...neutral, frequency_penalty: 2, logit_bias: { "3": 100, "4": 100, "5": -100 } };
    const sampler = samplerOf(sampling, []);
    for (let times = 0; times < 1000; times += 1) sampler.accept(3);
    const bias = new Map(biasOf(sampler, [4]));
    expect(bias.get(3)).toBeGreaterThan(1000);
    expect(bias.get(4)).toBe(Number.NEGATIVE_INFINITY);
    expect(bias.get(5)).toBeLessThan(-1000);
  });

  test("a repetition penalty covers the prompt and the answer, every token once", () => {
    const sampler = samplerOf({ ...neutral, repetition_penalty: 1.5 }, [1, 2, 1]);
    sampler.accept(7);
    sampler.accept(2);
    expect(sampler.config([], undefined)).toMatchObject({
      repeatPenalty: 1.5,
      repeatPenaltyTokens: Uint32Array.of(1, 2, 7),
      repeatPenaltyMaxTokens: 3,
    });
  });

  test.each([
    ["an unbounded top_k is as many as there are", { top_k: 2 ** 40 }, { topK: 10 }],
    ["no top_k", { top_k: 0 }, { topK: 0 }],
    ["a temperature that would overflow is greedy", { temperature: 1e-30 }, { temperature: 0 }],
  ])("%s", (_title, sampling, want) => {
    expect(samplerOf({ ...neutral, ...sampling }, []).config([], undefined)).toMatchObject(want);
  });

  test("a model that must not repeat itself loses interest in what goes round in circles, and the caller's bias still counts", () => {
    const dry = { multiplier: 3, base: 2, allowedTokens: 4, allowedDigits: 6 };
    const sampler = samplerOf({ ...neutral, logit_bias: { 1: 1 } }, [], new LoopPenalty(dry, () => false));
    for (const token of [1, 2, 1, 2]) sampler.accept(token);
    expect(biasOf(sampler)).toEqual([[1, 1]]);
    for (const token of [1, 2]) sampler.accept(token);
    expect(biasOf(sampler)).toEqual([[1, -2]]);
  });
});
