import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { neutral } from "../../../testing/requests.ts";
import type { Sampling } from "../../engine.ts";
import { LoopPenalty } from "./loop-penalty.ts";
import type { LogitsProcessor } from "./logits-processors.ts";
import { ChoiceSampler, foldSeed } from "./sampler.ts";
import type { NativeSamplerConfig } from "./sampler.ts";

describe("a seed", () => {
  const fixed = (): number => 0.5;
  test("gives the same number every time, and a different one for its neighbours, its negative and the opposite end of the range", () => {
    const seeds = ["0", "1", "-1", "2", "-2", "42", "4294967296", "9223372036854775807", "-9223372036854775808"];
    const folded = seeds.map((seed) => foldSeed(seed, 0, fixed));
    expect(new Set(folded).size).toBe(seeds.length);
    expect(seeds.map((seed) => foldSeed(seed, 0, Math.random))).toEqual(folded);
  });

  test("of choice i is the seed plus i, around the end of the numbers, too", () => {
    expect(foldSeed("7", 3, fixed)).toBe(foldSeed("10", 0, fixed));
    expect(foldSeed("9223372036854775807", 1, fixed)).toBe(foldSeed("-9223372036854775808", 0, fixed));
  });

  test("that is absent is drawn at random, and is never the value that llama.cpp reads as a missing seed", () => {
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

  test("ids outside the vocabulary, and texts that are not ids, have no effect", () => {
    const logit_bias = { "3": 1, "10": 2, "-1": 3, "": 4, "1e0": 5, "9": 0, "99999999999": 6 };
    expect(biasOf(samplerOf({ ...neutral, logit_bias }, []))).toEqual([[3, 1]]);
  });

  test("penalties count the written tokens, and are added to the caller's bias", () => {
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

  test("the loop penalty makes repetitions less likely, and the caller's bias still counts", () => {
    const dry = { multiplier: 3, base: 2, allowedTokens: 4, allowedDigits: 6 };
    const sampler = samplerOf({ ...neutral, logit_bias: { 1: 1 } }, [], new LoopPenalty(dry, () => false));
    for (const token of [1, 2, 1, 2]) sampler.accept(token);
    expect(biasOf(sampler)).toEqual([[1, 1]]);
    for (const token of [1, 2]) sampler.accept(token);
    expect(biasOf(sampler)).toEqual([[1, -2]]);
  });
});

describe("with any sampling parameters", () => {
  /**
   * The logit of a token on its way through llama.cpp: the bias, then the repetition penalty, then the temperature. In floats.
   */
  const logitOf = (config: NativeSamplerConfig, token: number, logit: number): number => {
    const { temperature, repeatPenalty = 1, repeatPenaltyTokens, tokenBiasKeys, tokenBiasValues } = config;
    const biased = Math.fround(logit + (tokenBiasValues?.[tokenBiasKeys?.indexOf(token) ?? -1] ?? 0));
    const penalty = repeatPenaltyTokens?.includes(token) ? Math.fround(repeatPenalty) : 1;
    const penalized = Math.fround(biased > 0 ? biased / penalty : biased * penalty);
    return Math.fround(temperature > 0 ? penalized / Math.fround(temperature) : penalized);
  };
  const near = (min: number, max: number): fc.Arbitrary<number> =>
    fc.oneof(fc.constantFrom(min, max), fc.double({ min, max, noNaN: true }));
  const sampling = fc.record({
    temperature: near(0, 2),
    top_p: near(Number.MIN_VALUE, 1),
    top_k: fc.constantFrom(0, 1, 2 ** 31 - 1),
    min_p: near(0, 1),
    frequency_penalty: near(-2, 2),
    presence_penalty: near(-2, 2),
    repetition_penalty: fc.oneof(near(Number.MIN_VALUE, 2), near(Number.MIN_VALUE, 1e-37)),
  });
  const token = fc.integer({ min: 0, max: 7 });
  const logits = fc.array(near(-200, 200), { minLength: 8, maxLength: 8 });
  const history = fc.array(token, { maxLength: 8 });
  const processor = fc
    .constantFrom(-1e300, 1e300, 50)
    .map((change): LogitsProcessor => ({ accept: () => undefined, biases: () => new Map([[5, change]]) }));

  test("every logit is finite, a ban holds, a bias of 100 forces, and no bias lifts a ban of ours", () => {
    const biases = fc.array(near(-99.9, 99.9), { minLength: 5, maxLength: 5 });
    const times = fc.constantFrom(1, 2000);
    const property = fc.property(
      sampling,
      biases,
      logits,
      history,
      history,
      times,
      processor,
      (values, given, scores, prompt, written, repeats, ...processors) => {
        const logit_bias = { ...Object.fromEntries(given.entries()), "5": -100, "6": 100, "7": 100 };
        const options = { sampling: { ...values, logit_bias }, seed: 1, prompt, vocabularySize: 8, processors };
        const sampler = new ChoiceSampler(options);
        for (const one of written) for (let time = 0; time < repeats; time += 1) sampler.accept(one);
        const config = sampler.config([7], undefined);
        const [banned, forced, ours, ...others] = [5, 6, 7, 0, 1, 2, 3, 4].map((one) =>
          logitOf(config, one, scores[one] ?? 0),
        );
        expect([forced, banned, ...others].filter((logit) => !Number.isFinite(logit))).toEqual([]);
        expect(banned).toBeLessThan(Math.min(...others));
        expect(forced).toBeGreaterThan(Math.max(...others));
        expect(ours).toBe(Number.NEGATIVE_INFINITY);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});
