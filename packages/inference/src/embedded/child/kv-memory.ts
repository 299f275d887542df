import { open, rm } from "node:fs/promises";
import type { LlamaContext, LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import type { SlotPlan } from "../plan-slots.ts";

export interface KvMemoryOptions {
  readonly model: LlamaModel;
  readonly plan: SlotPlan;
  /** The maximum number of threads that decode a batch. */
  readonly threads: number;
  /** The maximum number of tokens in a batch. */
  readonly batchSize: number;
  /** The path of a private temporary file through which the state of a sequence is moved. */
  readonly movePath: string;
}

/**
 * The key-value caches of all slots. llama.cpp writes to all of its cache when it creates a context, so a context for full
 * slots would take all its memory from the start. Therefore the first context is small. When a slot needs more, a larger
 * context replaces it, and the state of each sequence is copied byte by byte, so their texts do not depend on it.
 */
export class KvMemory {
  readonly #options: KvMemoryOptions;
  #context: LlamaContext;
  #sequences: readonly LlamaContextSequence[];
  /** A larger context that is being created, or is ready to replace the current one. */
  #next: { readonly size: number; readonly made: Promise<LlamaContext> } | undefined;
  /** The last change of a sequence. Changes run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: KvMemoryOptions, context: LlamaContext) {
    this.#options = options;
    this.#context = context;
    this.#sequences = sequencesOf(context);
  }

  static async create(options: KvMemoryOptions): Promise<KvMemory> {
    // A process that died while it moved a sequence may have left the file.
    await rm(options.movePath, { force: true });
    return new KvMemory(options, await createContext(options, stepFor(options.plan, 0)));
  }

  sequence(slot: number): LlamaContextSequence {
    const sequence = this.#sequences[slot];
    if (sequence === undefined) throw new RangeError(`there is no slot ${slot}`);
    return sequence;
  }

  /** Checks if every slot can hold `tokens` tokens. */
  holds(tokens: number): boolean {
    return tokens <= capacityOf(this.#context);
  }

  /** Changes a sequence while no other one is being changed. */
  change<T>(slot: number, act: (sequence: LlamaContextSequence) => Promise<T>): Promise<T> {
    return this.#alone(() => act(this.sequence(slot)));
  }

  /**
   * Creates a larger context while the current one stays in use. Filling its memory with zeros would otherwise take most of
   * the time of `grow`.
   */
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

  /** Grows every slot to hold `tokens` tokens. Nothing may be decoded meanwhile. */
  async grow(tokens: number): Promise<void> {
    await this.#alone(async () => {
      while (!this.holds(tokens)) {
        await this.prepare(tokens);
        // Undefined when another request asked for an even larger context, and creating that one failed.
        const next = this.#next;
        this.#next = undefined;
        if (next) await this.#moveTo(await next.made);
      }
    });
  }

  /** Shrinks every slot to its initial size. Sequences that are longer are emptied. Nothing may be decoded meanwhile. */
  async shrink(): Promise<void> {
    await this.#alone(async () => {
      this.#dropNext();
      const size = stepFor(this.#options.plan, 0);
      if (size < capacityOf(this.#context)) await this.#moveTo(await createContext(this.#options, size));
    });
  }

  /** Discards the larger context, because it is no longer needed or an even larger one is. */
  #dropNext(): void {
    const next = this.#next;
    this.#next = undefined;
    // Nothing waits for this context, so its failure is ignored.
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

  /** Moves one sequence. node-llama-cpp exports the state of a sequence only as a file. */
  async #move(from: LlamaContextSequence, to: LlamaContextSequence): Promise<void> {
    if (from.nextTokenIndex === 0 || from.nextTokenIndex > to.contextSize - 1) return;
    const { movePath } = this.#options;
    try {
      // Created first to set its mode: the file will hold text of callers.
      await (await open(movePath, "wx", 0o600)).close();
      await from.saveStateToFile(movePath);
      // The flag accepts the risk that the file belongs to another model. This file was just written here.
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

/** Returns the smallest step that holds `tokens` tokens. The last step holds every request. */
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
    // Used if llama.cpp supports it for this processor and model.
    flashAttention: "auto",
    ignoreMemorySafetyChecks: true,
  });

const sequencesOf = (context: LlamaContext): LlamaContextSequence[] =>
  Array.from({ length: context.totalSequences }, () => context.getSequence());
