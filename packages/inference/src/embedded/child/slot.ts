import type { LlamaModel } from "node-llama-cpp";
import type { SampledToken } from "../../answer/sampled-token.ts";
import type { Progress } from "../../child/progress.ts";
import type { BatchScheduler, DecodeJob } from "./batch-scheduler.ts";
import type { KvMemory } from "./kv-memory.ts";
import type { NativeSamplerConfig } from "./sampler.ts";
import { sharedSlices } from "./slices.ts";

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

/** The number of most likely tokens to report. Banned tokens are not reported. */
export interface Alternatives {
  readonly count: number;
  readonly banned: readonly number[];
}

/** The properties of a request that a slot needs. */
export interface SlotUser {
  /** The request must be repeatable: it shares no batch with other sequences, and reuses no cached tokens. */
  readonly isSolo: boolean;
  /** The key that the request is for; undefined for a probe. */
  readonly key: string | undefined;
  readonly prompt: readonly number[];
}

/** State shared by the slots of a model. */
export interface SharedBySlots {
  readonly model: LlamaModel;
  readonly memory: KvMemory;
  readonly scheduler: BatchScheduler;
  readonly progress: Progress;
  /** Sets the number of threads that decode a batch. */
  readonly threadsOf: (kind: DecodeJob["kind"], user: SlotUser) => number;
}

/** One sequence of the shared context. It decodes and samples the tokens of one choice at a time. */
export class Slot {
  readonly #index: number;
  readonly #shared: SharedBySlots;
  readonly #newSampler: () => NativeSampler;
  /** A sampler without filters, for log-probabilities. */
  readonly #plain: NativeSampler;
  #sampler: NativeSampler;
  #work: { readonly user: SlotUser; readonly signal: AbortSignal } | undefined;
  /** The request whose prompt this slot still has cached. */
  #kept: SlotUser | undefined;

  constructor(index: number, shared: SharedBySlots) {
    // The cast reaches the hidden members described above.
    const { _llama: llama, _model: native } = shared.model as unknown as ModelInternals;
    this.#index = index;
    this.#shared = shared;
    this.#newSampler = () => new llama._bindings.AddonSampler(native);
    this.#sampler = this.#newSampler();
    this.#plain = this.#newSampler();
    this.#plain.applyConfig({});
  }

  /**
   * Returns how many prompt tokens this slot has cached for the same key. Keys never share a cache: a faster answer would
   * reveal that another key sent the same text.
   */
  reusable({ isSolo, key, prompt }: SlotUser): number {
    if (isSolo || key === undefined || this.#kept?.key !== key) return 0;
    return sharedSlices(prompt, this.#shared.memory.sequence(this.#index).contextTokens, this.#kept.prompt.length);
  }

  /**
   * @param signal when it aborts, jobs that wait for their turn are dropped
   * @returns the number of prompt tokens reused from the cache
   */
  async begin(user: SlotUser, signal: AbortSignal): Promise<number> {
    this.#work = { user, signal };
    return this.#shared.memory.change(this.#index, async (sequence) => {
      const reused = this.reusable(user);
      await sequence.eraseContextTokenRanges([{ start: reused, end: sequence.nextTokenIndex }]);
      this.#kept = user.isSolo ? undefined : user;
      return reused;
    });
  }

  /**
   * Resets the random numbers, because the same seed must give the same text in any slot at any time. The prompt stays cached
   * for its key.
   */
  reset(): void {
    this.#work = undefined;
    this.#sampler.dispose();
    this.#sampler = this.#newSampler();
  }

  /** Puts a slice of a prompt into the context without sampling. */
  async decode(slice: readonly number[]): Promise<void> {
    await this.#run("prompt", slice, async () => undefined, []);
  }

  /**
   * Decodes at least one token: the last slice of a prompt, or the tokens that the answer has just written. `choose` may then
   * sample the next token, more than once if needed. Returns undefined when the signal aborted first.
   */
  async next(
    kind: DecodeJob["kind"],
    tokens: readonly number[],
    choose: (sample: Sample) => Promise<SampledToken>,
  ): Promise<SampledToken | undefined> {
    const wantsLogits: (true | undefined)[] = [];
    wantsLogits[tokens.length - 1] = true;
    // Must never reject. node-llama-cpp does not handle a rejection: the process would end, or the whole batch would wait
    // forever.
    const onLogits = (index: number): Promise<[PromiseSettledResult<SampledToken>]> =>
      Promise.allSettled([choose((config, alternatives) => this.#sample(index, config, alternatives))]);
    const results = await this.#run(kind, tokens, onLogits, wantsLogits);
    if (results === undefined) return undefined;
    // `decode` returns the value of `onLogits` for the last token.
    const [sampled] = results[tokens.length - 1] as [PromiseSettledResult<SampledToken>];
    if (sampled.status === "rejected") throw sampled.reason;
    return sampled.value;
  }

  async #sample(
    index: number,
    config: NativeSamplerConfig,
    alternatives: Alternatives | undefined,
  ): Promise<SampledToken> {
    const { _ctx: context } = this.#sequence._context;
    this.#sampler.applyConfig(config);
    const sampled = await context.sampleToken(index, this.#sampler);
    const id = Array.isArray(sampled) ? sampled[0] : sampled;
    if (id < 0) throw new Error("llama.cpp found no token to choose");
    return alternatives === undefined ? { id } : this.#withLogprobs(index, id, alternatives);
  }

  /** Reads the same logits again with a sampler without filters: log-probabilities are of the unfiltered distribution. */
  async #withLogprobs(index: number, id: number, { count, banned }: Alternatives): Promise<SampledToken> {
    const { _ctx: context } = this.#sequence._context;
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
    if (this.#work === undefined) throw new Error("a slot works for a choice that has begun");
    const { user, signal } = this.#work;
    const { memory, scheduler, progress, threadsOf, model } = this.#shared;
    const job = { kind, isSolo: user.isSolo, key: user.key ?? "", sequence: this };
    const needed = Math.max(user.prompt.length, memory.sequence(this.#index).nextTokenIndex + tokens.length);
    if (!memory.holds(needed)) {
      await memory.prepare(needed);
      // Growing takes the turn of a prompt slice, because nothing else is decoded at the same time.
      await scheduler.run({ ...job, kind: "prompt" }, () => memory.grow(needed), signal);
    }
    const decode = (): Promise<unknown[]> => {
      model.llama.maxThreads = threadsOf(kind, user);
      const { _tokenMeter: meter } = this.#sequence;
      return this.#sequence._decodeTokens([...tokens], wants, priority, meter, neverShift, onLogits);
    };
    return scheduler.run(job, () => progress.measure(tokens.length, decode), signal);
  }

  /** A getter, because the object changes when the memory grows. The cast reaches the hidden members described above. */
  get #sequence(): SequenceInternals {
    return this.#shared.memory.sequence(this.#index) as unknown as SequenceInternals;
  }
}

/** Prompt and token limit fit the context, so this strategy never runs. */
const neverShift = { size: 1, strategy: "eraseBeginning" } as const;

/** The scheduler decides the order and gives node-llama-cpp one batch at a time. */
const priority = 5;

/** The native side returns tokens and values alternately. */
const pairs = (flat: readonly number[]): (readonly [token: number, value: number])[] => {
  const list: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) list.push([flat[index] ?? 0, flat[index + 1] ?? 0]);
  return list;
};
