import { seedOfChoice } from "../../answer/seed-of-choice.ts";
import { boundSampling } from "../../bound-sampling.ts";
import type { Sampling } from "../../engine.ts";
import type { LogitsProcessor } from "./logits-processors.ts";

/** The configuration of node-llama-cpp's native sampler (its `AddonSampler.applyConfig`, version 3.22). */
export interface NativeSamplerConfig {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  seed: number;
  repeatPenalty?: number;
  repeatPenaltyMaxTokens?: number;
  repeatPenaltyTokens?: Uint32Array;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  grammarEvaluationState?: unknown;
}

/**
 * A bias of −100 puts a token below all others and 100 above, whatever the logits and the penalties are. Neither is absolute:
 * some token must be chosen even where a grammar or the caller's bias leaves no other.
 */
const extremes = new Map([
  [-100, -1e5],
  [100, 1e5],
]);

/** A bias beyond every logit, also where the repetition penalty divides it or multiplies the others. It stays finite as a float. */
const certain = 1e6;

/**
 * The sum of all penalties and processors is limited to this. It is more than the largest difference between logits. With this
 * limit, the repetition penalty cannot raise a logit above the extremes, and no logit becomes infinite.
 */
const maxShift = 400;

export interface SamplerOptions {
  readonly sampling: Sampling;
  readonly seed: number;
  /** Token ids. */
  readonly prompt: readonly number[];
  readonly vocabularySize: number;
  /** The model's logits processors, made for this choice. */
  readonly processors: readonly LogitsProcessor[];
}

/**
 * The sampling state of one choice. Frequency and presence penalties are added to the logits, so they are passed on as token
 * biases; they count the tokens of this choice. The repetition penalty is a factor, and it covers the prompt as well.
 */
export class ChoiceSampler {
  readonly #sampling: Sampling;
  readonly #seed: number;
  readonly #vocabularySize: number;
  readonly #fixedBias: ReadonlyMap<number, number>;
  readonly #counts = new Map<number, number>();
  readonly #seen: Set<number>;
  readonly #processors: readonly LogitsProcessor[];

  constructor({ sampling, seed, prompt, vocabularySize, processors }: SamplerOptions) {
    this.#sampling = boundSampling(sampling);
    this.#seed = seed;
    this.#processors = processors;
    this.#vocabularySize = vocabularySize;
    this.#fixedBias = readBias(sampling.logit_bias, vocabularySize);
    this.#seen = new Set(sampling.repetition_penalty === 1 ? [] : prompt.filter((token) => !this.#isBanned(token)));
  }

  /** Records a token that the model has written. */
  accept(token: number): void {
    const { frequency_penalty, presence_penalty, repetition_penalty } = this.#sampling;
    if (frequency_penalty !== 0 || presence_penalty !== 0) this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    if (repetition_penalty !== 1 && !this.#isBanned(token)) this.#seen.add(token);
    for (const processor of this.#processors) processor.accept(token);
  }

  /** Returns the configuration for the next token. `banned` tokens cannot be chosen, whatever the caller's bias is. */
  config(banned: readonly number[], grammar: unknown): NativeSamplerConfig {
    const { temperature, top_k, top_p, min_p, repetition_penalty } = this.#sampling;
    const bias = this.#bias(banned, grammar !== undefined);
    return {
      temperature,
      // The native side reads 32 bits: a larger number would wrap around.
      topK: Math.min(top_k, this.#vocabularySize),
      topP: top_p,
      minP: min_p,
      seed: this.#seed,
      ...(repetition_penalty !== 1 && {
        repeatPenalty: repetition_penalty,
        repeatPenaltyTokens: Uint32Array.from(this.#seen),
        repeatPenaltyMaxTokens: this.#seen.size,
      }),
      ...(bias.size > 0 && {
        tokenBiasKeys: Uint32Array.from(bias.keys()),
        tokenBiasValues: Float32Array.from(bias.values()),
      }),
      ...(grammar !== undefined && { grammarEvaluationState: grammar }),
    };
  }

  /** Excludes tokens that the caller has banned: the repetition penalty would raise their negative logit. */
  #isBanned(token: number): boolean {
    return this.#fixedBias.get(token) === extremes.get(-100);
  }

  /** Returns the token of the first processor that is certain of one. */
  #certainToken(isConstrained: boolean): number | undefined {
    for (const processor of this.#processors) {
      const token = processor.certainToken?.(isConstrained);
      if (token !== undefined) return token;
    }
    return undefined;
  }

  #shiftedBias(isConstrained: boolean): Map<number, number> {
    const { frequency_penalty, presence_penalty } = this.#sampling;
    const shifts = new Map<number, number>();
    for (const [token, count] of this.#counts) shifts.set(token, -frequency_penalty * count - presence_penalty);
    for (const processor of this.#processors) {
      for (const [token, change] of processor.biases(isConstrained))
        shifts.set(token, (shifts.get(token) ?? 0) + change);
    }
    const bias = new Map(this.#fixedBias);
    for (const [token, shift] of shifts) {
      bias.set(token, (bias.get(token) ?? 0) + Math.max(-maxShift, Math.min(maxShift, shift)));
    }
    return bias;
  }

  #bias(banned: readonly number[], isConstrained: boolean): ReadonlyMap<number, number> {
    const only = this.#certainToken(isConstrained);
    const bias = only === undefined ? this.#shiftedBias(isConstrained) : new Map([[only, certain]]);
    for (const token of banned) bias.set(token, Number.NEGATIVE_INFINITY);
    return bias;
  }
}

/** Ids outside the vocabulary have no effect. */
function readBias(bias: Sampling["logit_bias"], vocabularySize: number): ReadonlyMap<number, number> {
  const read = new Map<number, number>();
  for (const [id, value] of Object.entries(bias)) {
    if (/^\d+$/.test(id) && Number(id) < vocabularySize && value !== 0) {
      read.set(Number(id), extremes.get(value) ?? value);
    }
  }
  return read;
}

/** llama.cpp treats the largest 32-bit seed as a request for a random one. */
const seeds = 2 ** 32 - 1;

/** Folds the int64 seed of a choice into the 32 bits that the native sampler takes. @param random from 0 up to 1 */
export function foldSeed(seed: string | undefined, choice: number, random: () => number): number {
  if (seed === undefined) return Math.floor(random() * seeds);
  // Fibonacci hashing: seeds that differ by 1 or only in their sign get very different results.
  const mixed = BigInt.asUintN(64, seedOfChoice(seed, choice) * 0x9e37_79b9_7f4a_7c15n);
  return Number(mixed >> 32n) % seeds;
}
