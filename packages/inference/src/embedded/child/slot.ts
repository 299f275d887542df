import type { LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import type { SampledToken } from "../../answer/sampled-token.ts";
import type { Progress } from "../../child/progress.ts";
import type { BatchScheduler, DecodeJob } from "./batch-scheduler.ts";
import type { NativeSamplerConfig } from "./sampler.ts";

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
 * Members of a sequence that its public types hide. They are those of version 3.22, which is pinned; every test of the
 * embedded engine uses them. The public `evaluate` does not suffice: it reports probabilities only after the sampling
 * filters, restarts the random numbers with every call, and cannot stop in the middle of a prompt.
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

/** Samples one token; with log-probabilities where alternatives are asked for. */
export type Sample = (config: NativeSamplerConfig, alternatives: Alternatives | undefined) => Promise<SampledToken>;

/** How many of the most likely tokens to report; banned tokens are not reported. */
export interface Alternatives {
  readonly count: number;
  readonly banned: readonly number[];
}

/** What a slot needs to know of the choice that it works on. */
export interface SlotUser extends Pick<DecodeJob, "isSolo" | "key"> {
  /** When it aborts, what waits for its turn is dropped. */
  readonly signal: AbortSignal;
}

/** What the slots of a model share. */
export interface SharedBySlots {
  readonly model: LlamaModel;
  readonly scheduler: BatchScheduler;
  readonly progress: Progress;
}

/** One sequence of the shared context. It decodes and samples the tokens of one choice at a time. */
export class Slot {
  readonly #sequence: LlamaContextSequence;
  readonly #internals: SequenceInternals;
  readonly #newSampler: () => NativeSampler;
  /** Without any filter, for log-probabilities. */
  readonly #plain: NativeSampler;
  readonly #scheduler: BatchScheduler;
  readonly #progress: Progress;
  #sampler: NativeSampler;
  #user: SlotUser | undefined;

  constructor(sequence: LlamaContextSequence, { model, scheduler, progress }: SharedBySlots) {
    // Both casts reach the hidden members described above.
    this.#internals = sequence as unknown as SequenceInternals;
    const { _llama: llama, _model: native } = model as unknown as ModelInternals;
    this.#sequence = sequence;
    this.#scheduler = scheduler;
    this.#progress = progress;
    this.#newSampler = () => new llama._bindings.AddonSampler(native);
    this.#sampler = this.#newSampler();
    this.#plain = this.#newSampler();
    this.#plain.applyConfig({});
  }

  begin(user: SlotUser): void {
    this.#user = user;
  }

  /** Resets the slot and its random numbers: the same seed must give the same text in any slot at any time. */
  async clear(): Promise<void> {
    this.#sampler.dispose();
    this.#sampler = this.#newSampler();
    await this.#sequence.clearHistory();
  }

  /** Puts a slice of a prompt into the context without sampling. */
  async decode(slice: readonly number[]): Promise<void> {
    await this.#run("prompt", slice, async () => undefined, []);
  }

  /**
   * Decodes the tokens, at least one: the last slice of a prompt, or what the answer has just written. `choose` may then
   * sample the next token, more than once if needed. The result is undefined when the signal aborted first.
   */
  async next(
    kind: DecodeJob["kind"],
    tokens: readonly number[],
    choose: (sample: Sample) => Promise<SampledToken>,
  ): Promise<SampledToken | undefined> {
    const wantsLogits: (true | undefined)[] = [];
    wantsLogits[tokens.length - 1] = true;
    const onLogits = (index: number): Promise<SampledToken> =>
      choose((config, alternatives) => this.#sample(index, config, alternatives));
    const results = await this.#run(kind, tokens, onLogits, wantsLogits);
    if (results === undefined) return undefined;
    // The result for the last token is what `choose` has returned.
    const sampled = results[tokens.length - 1] as SampledToken | undefined;
    if (sampled === undefined) throw new Error("llama.cpp returned no token");
    return sampled;
  }

  async #sample(
    index: number,
    config: NativeSamplerConfig,
    alternatives: Alternatives | undefined,
  ): Promise<SampledToken> {
    const { _ctx: context } = this.#internals._context;
    this.#sampler.applyConfig(config);
    const sampled = await context.sampleToken(index, this.#sampler);
    const id = Array.isArray(sampled) ? sampled[0] : sampled;
    if (id < 0) throw new Error("llama.cpp found no token to choose");
    return alternatives === undefined ? { id } : this.#withLogprobs(index, id, alternatives);
  }

  /** Reads the same logits again with a sampler without filters: log-probabilities are of the unfiltered distribution. */
  async #withLogprobs(index: number, id: number, { count, banned }: Alternatives): Promise<SampledToken> {
    const { _ctx: context } = this.#internals._context;
    const filter: LogitFilter = [[id], false, false, false, Math.max(1, count + banned.length)];
    const result = await context.sampleToken(index, this.#plain, false, false, filter, true);
    const [, , , flat = [], weight = 1] = Array.isArray(result) ? result : [];
    const logits = pairs(flat);
    const highest = Math.max(...logits.map(([, logit]) => logit));
    // The weight is the sum of exp(logit − highest) over the vocabulary.
    const total = highest + Math.log(weight);
    const logprobOf = new Map<number, number>(logits.map(([token, logit]) => [token, Math.min(0, logit - total)]));
    const possible = Array.from(logprobOf, ([token, logprob]) => ({ id: token, logprob })).filter(
      (one) => !banned.includes(one.id),
    );
    const top = possible.toSorted((a, b) => b.logprob - a.logprob).slice(0, count);
    return { id, logprob: logprobOf.get(id) ?? Number.NEGATIVE_INFINITY, top };
  }

  async #run(
    kind: DecodeJob["kind"],
    tokens: readonly number[],
    onLogits: (index: number) => Promise<unknown>,
    wants: (true | undefined)[],
  ): Promise<unknown[] | undefined> {
    if (this.#user === undefined) throw new Error("a slot works for a choice that has begun");
    const shift = { size: 1, strategy: "eraseBeginning" } as const; // never happens: the prompt and the token limit fit the context
    const { _tokenMeter: meter } = this.#internals;
    return this.#scheduler.run(
      { ...this.#user, kind, sequence: this },
      () =>
        this.#progress.measure(tokens.length, () =>
          this.#internals._decodeTokens([...tokens], wants, priority, meter, shift, onLogits),
        ),
      this.#user.signal,
    );
  }
}

/** The scheduler decides the order, so that node-llama-cpp is given one batch at a time. */
const priority = 5;

/** The native side returns tokens and values alternately. */
const pairs = (flat: readonly number[]): (readonly [token: number, value: number])[] => {
  const list: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) list.push([flat[index] ?? 0, flat[index + 1] ?? 0]);
  return list;
};
