import { open, rm } from "node:fs/promises";
import type { LlamaContext, LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import type { SlotPlan } from "../plan-slots.ts";

export interface KvMemoryOptions {
  readonly model: LlamaModel;
  readonly plan: SlotPlan;
  /** The most threads that a batch may have. */
  readonly threads: number;
  /** Tokens that a batch may have. */
  readonly batchSize: number;
  /** The path of a file of our own: what a sequence passes through when it moves. */
  readonly movePath: string;
}

/**
 * The key-value caches of all slots. llama.cpp writes to all of its cache when a context is created, so a context for full
 * slots takes all its memory from the start on. So the first context is small. When a slot needs more, a larger context takes
 * its place, and the sequences move there byte by byte: their texts do not depend on it.
 */
export class KvMemory {
  readonly #options: KvMemoryOptions;
  #context: LlamaContext;
  #sequences: readonly LlamaContextSequence[];
  /** A larger context that is being made, or waits to take the place of the one in use. */
  #next: { readonly size: number; readonly made: Promise<LlamaContext> } | undefined;
  /** Sequences are changed one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: KvMemoryOptions, context: LlamaContext) {
    this.#options = options;
    this.#context = context;
    this.#sequences = sequencesOf(context);
  }

  static async create(options: KvMemoryOptions): Promise<KvMemory> {
    // A process that died while a sequence moved has left it.
    await rm(options.movePath, { force: true });
    return new KvMemory(options, await createContext(options, stepFor(options.plan, 0)));
  }

  sequence(slot: number): LlamaContextSequence {
    const sequence = this.#sequences[slot];
    if (sequence === undefined) throw new RangeError(`there is no slot ${slot}`);
    return sequence;
  }

  /** Whether every slot can hold so many tokens. */
  holds(tokens: number): boolean {
    return tokens <= capacityOf(this.#context);
  }

  /** Changes a sequence while no other is changed. */
  change<T>(slot: number, act: (sequence: LlamaContextSequence) => Promise<T>): Promise<T> {
    return this.#alone(() => act(this.sequence(slot)));
  }

  /** Makes a larger context, while the one in use goes on. Filling its memory with zeros would otherwise take most of the time of `grow`. */
  async prepare(tokens: number): Promise<void> {
    if (this.holds(tokens)) return;
    const size = stepFor(this.#options.plan, tokens);
    if (!this.#next || this.#next.size < size) {
      this.#dropNext();
      this.#next = { size, made: createContext(this.#options, size) };
    }
    const next = this.#next;
    try {
      await next.made;
    } catch (error) {
      if (this.#next === next) this.#next = undefined;
      throw error;
    }
  }

  /** Makes every slot hold so many tokens. Nothing may be decoded meanwhile. */
  async grow(tokens: number): Promise<void> {
    await this.#alone(async () => {
      while (!this.holds(tokens)) {
        await this.prepare(tokens);
        // Absent when another request has replaced it by a larger one, and that could not be made.
        const next = this.#next;
        this.#next = undefined;
        if (next) await this.#moveTo(await next.made);
      }
    });
  }

  /** Makes every slot as small as it was at first. Sequences that are longer are emptied. Nothing may be decoded meanwhile. */
  async shrink(): Promise<void> {
    await this.#alone(async () => {
      this.#dropNext();
      const size = stepFor(this.#options.plan, 0);
      if (size < capacityOf(this.#context)) await this.#moveTo(await createContext(this.#options, size));
    });
  }

  /** Gives up the larger context, because nobody wants it any more or an even larger one is wanted. */
  #dropNext(): void {
    const next = this.#next;
    this.#next = undefined;
    // Nobody waits for it, so its failure is nobody's.
    next?.made.then((context) => context.dispose()).catch(() => undefined);
  }

  async #moveTo(context: LlamaContext): Promise<void> {
    const old = this.#context;
    try {
      const sequences = sequencesOf(context);
      for (const [slot, sequence] of sequences.entries()) await this.#move(this.sequence(slot), sequence);
      this.#context = context;
      this.#sequences = sequences;
    } catch (error) {
      await context.dispose();
      throw error;
    }
    await old.dispose();
  }

  /** node-llama-cpp gives out the state of a sequence as a file only. */
  async #move(from: LlamaContextSequence, to: LlamaContextSequence): Promise<void> {
    if (from.nextTokenIndex === 0 || from.nextTokenIndex > to.contextSize - 1) return;
    const { movePath } = this.#options;
    try {
      // Made beforehand for its mode: it holds what callers have written.
      await (await open(movePath, "wx", 0o600)).close();
      await from.saveStateToFile(movePath);
      // The risk is a file of another model.
      await to.loadStateFromFile(movePath, { acceptRisk: true });
    } finally {
      await rm(movePath, { force: true });
    }
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** The smallest step that holds so many tokens; the last one holds every request. */
const stepFor = ({ steps, contextLength }: SlotPlan, tokens: number): number =>
  steps.find((step) => step >= tokens) ?? contextLength;

/** llama.cpp keeps the last cell of a sequence free. */
const capacityOf = (context: LlamaContext): number => context.contextSize - 1;

const createContext = ({ model, plan, threads, batchSize }: KvMemoryOptions, tokens: number): Promise<LlamaContext> =>
  model.createContext({
    sequences: plan.slots + plan.spareSlots,
    contextSize: tokens + 1,
    threads,
    batchSize,
    // Where llama.cpp offers it for this processor and model.
    flashAttention: "auto",
    ignoreMemorySafetyChecks: true,
  });

const sequencesOf = (context: LlamaContext): LlamaContextSequence[] =>
  Array.from({ length: context.totalSequences }, () => context.getSequence());
