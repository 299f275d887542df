import type { LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import { decodes } from "./next-batch.ts";
import type { Progress } from "../../child/progress.ts";
import type { NativeSamplerConfig } from "./sampler.ts";

/** A token that the model chose, with what was asked to be known of the choice. */
export interface Chosen {
  readonly token: number;
  /** Log-probabilities of the unfiltered distribution: the chosen token's, and the highest ones in falling order. */
  readonly logprobs?: { readonly chosen: number; readonly top: readonly (readonly [token: number, logprob: number])[] };
}

/** The native objects below node-llama-cpp's public types. */
interface NativeSampler {
  applyConfig(config: NativeSamplerConfig | Record<string, never>): void;
  dispose(): void;
}

type LogitFilter = [tokens: number[], max: boolean, min: boolean, selected: boolean, top: number];

interface NativeContext {
  sampleToken(
    logitIndex: number,
    sampler: NativeSampler,
    probabilities?: boolean,
    confidence?: boolean,
    logits?: LogitFilter,
    totalLogitWeight?: boolean,
  ): Promise<
    number | [token: number, p: undefined, c: undefined, logits: number[] | undefined, weight: number | undefined]
  >;
}

/**
 * The members of a sequence that its public types hide, at version 3.22 exactly (the version is pinned, and every test
 * of the embedded engine runs through here). They are used because the public `evaluate` reports probabilities only
 * after the sampling filters, restarts the random numbers with every call, and cannot stop in the middle of a prompt.
 */
interface SequenceInternals {
  readonly _context: { readonly _ctx: NativeContext };
  readonly _tokenMeter: unknown;
  _decodeTokens(
    tokens: number[],
    wantsLogits: (true | undefined)[],
    priority: number,
    meter: unknown,
    contextShift: { size: number; strategy: "eraseBeginning" },
    onLogits: (logitIndex: number) => Promise<unknown>,
  ): Promise<unknown[]>;
}

interface ModelInternals {
  readonly _model: unknown;
  readonly _llama: { readonly _bindings: { readonly AddonSampler: new (model: unknown) => NativeSampler } };
}

/** Samples one token; with a number of alternatives the choice is reported with log-probabilities. */
export type Sample = (config: NativeSamplerConfig, alternatives: Alternatives | undefined) => Promise<Chosen>;

/** How many of the likeliest tokens to name; those that cannot be written here are no alternatives. */
export interface Alternatives {
  readonly count: number;
  readonly banned: readonly number[];
}

/** One sequence of the shared context: decodes tokens for one choice at a time and samples what follows. */
export class Slot {
  readonly #sequence: LlamaContextSequence;
  readonly #internals: SequenceInternals;
  readonly #newSampler: () => NativeSampler;
  readonly #plain: NativeSampler;
  readonly #progress: Progress;
  #sampler: NativeSampler;
  #company: number = decodes.together;

  constructor(sequence: LlamaContextSequence, model: LlamaModel, progress: Progress) {
    // Both casts reach the hidden members described above.
    this.#internals = sequence as unknown as SequenceInternals;
    const { _llama: llama, _model: native } = model as unknown as ModelInternals;
    this.#sequence = sequence;
    this.#progress = progress;
    this.#newSampler = () => new llama._bindings.AddonSampler(native);
    this.#sampler = this.#newSampler();
    this.#plain = this.#newSampler();
    this.#plain.applyConfig({});
  }

  /** @param isRepeatable the text depends on nothing but the request: no other sequence shares its batches */
  begin(isRepeatable: boolean): void {
    this.#company = isRepeatable ? decodes.alone : decodes.together;
  }

  /** Forgets everything, random numbers included: the same seed must give the same text in any slot at any time. */
  async clear(): Promise<void> {
    this.#sampler.dispose();
    this.#sampler = this.#newSampler();
    await this.#sequence.clearHistory();
  }

  /** Puts tokens into the context without sampling. */
  async decode(tokens: readonly number[]): Promise<void> {
    await this.#run(tokens, async () => undefined, []);
  }

  /** Decodes the tokens, at least one; `choose` may then sample more than once from what follows them. */
  async next(tokens: readonly number[], choose: (sample: Sample) => Promise<Chosen>): Promise<Chosen> {
    const wantsLogits: (true | undefined)[] = [];
    wantsLogits[tokens.length - 1] = true;
    const onLogits = (index: number): Promise<Chosen> =>
      choose((config, alternatives) => this.#sample(index, config, alternatives));
    const results = await this.#run(tokens, onLogits, wantsLogits);
    // The place of the last token holds what `choose` has returned.
    const chosen = results[tokens.length - 1] as Chosen | undefined;
    if (chosen === undefined) throw new Error("llama.cpp returned no token");
    return chosen;
  }

  async #sample(index: number, config: NativeSamplerConfig, alternatives: Alternatives | undefined): Promise<Chosen> {
    const { _ctx: context } = this.#internals._context;
    this.#sampler.applyConfig(config);
    const sampled = await context.sampleToken(index, this.#sampler);
    const token = Array.isArray(sampled) ? sampled[0] : sampled;
    if (token < 0) throw new Error("llama.cpp found no token to choose");
    if (alternatives === undefined) return { token };
    return { token, logprobs: await this.#readLogprobs(index, token, alternatives) };
  }

  /** The same logits again, through a sampler without filters. */
  async #readLogprobs(
    index: number,
    token: number,
    { count, banned }: Alternatives,
  ): Promise<NonNullable<Chosen["logprobs"]>> {
    const { _ctx: context } = this.#internals._context;
    const filter: LogitFilter = [[token], false, false, false, Math.max(1, count + banned.length)];
    const result = await context.sampleToken(index, this.#plain, false, false, filter, true);
    const [, , , flat = [], weight = 1] = Array.isArray(result) ? result : [];
    const logits = pairs(flat);
    const highest = Math.max(...logits.map(([, logit]) => logit));
    // The weight is the sum of exp(logit − highest) over the vocabulary.
    const total = highest + Math.log(weight);
    const logprobOf = new Map<number, number>(logits.map(([id, logit]) => [id, Math.min(0, logit - total)]));
    const possible = [...logprobOf].filter(([id]) => !banned.includes(id));
    const top = possible.toSorted((a, b) => b[1] - a[1]).slice(0, count);
    return { chosen: logprobOf.get(token) ?? Number.NEGATIVE_INFINITY, top };
  }

  #run(
    tokens: readonly number[],
    onLogits: (index: number) => Promise<unknown>,
    wants: (true | undefined)[],
  ): Promise<unknown[]> {
    const shift = { size: 1, strategy: "eraseBeginning" } as const; // never happens: prompt + maximum fits the context
    return this.#progress.measure(tokens.length, () =>
      this.#internals._decodeTokens([...tokens], wants, this.#company, this.#internals._tokenMeter, shift, onLogits),
    );
  }
}

/** The native side writes token and value in turn. */
const pairs = (flat: readonly number[]): (readonly [token: number, value: number])[] => {
  const list: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) list.push([flat[index] ?? 0, flat[index + 1] ?? 0]);
  return list;
};
