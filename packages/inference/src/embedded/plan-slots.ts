import type { GgufFileInfo } from "node-llama-cpp";
import type { ProcessorSettings } from "./child/logits-processors.ts";

/** The operator's settings of one embedded model. */
export interface ModelSettings {
  /** Path of a GGUF file. */
  readonly file: string;
  /** The SHA-256 that the file must have, in hex; undefined: not checked. */
  readonly sha256: string | undefined;
  /** Context length in tokens; undefined: the length that the file declares. */
  readonly contextLength: number | undefined;
  readonly processors?: ProcessorSettings;
  /** Memory for the key-value caches of all slots, in bytes. */
  readonly kvMemoryBytes: number;
  /** Threads for answers and for every repeatable request: with flash attention, sums depend on the number of threads. */
  readonly threads: number;
  /**
   * The maximum number of threads that read prompts of requests without a seed. They use as many as processors are free at
   * that moment.
   */
  readonly promptThreads: number;
  /** Milliseconds without a request after which the key-value cache shrinks; undefined: a minute. */
  readonly idleMs?: number;
}

export interface SlotPlan {
  readonly slots: number;
  /**
   * 1 where the budget has room for two slots, otherwise 0. A caller with one request can use it and need not wait for callers
   * with many.
   */
  readonly spareSlots: number;
  readonly contextLength: number;
  readonly kvBytesPerToken: number;
  /** The possible sizes of a slot's cache in tokens, from the initial size to the full one. */
  readonly steps: readonly number[];
  /** The calculation in one line, for the operator. */
  readonly explanation: string;
}

/** The memory budget is too small for one slot. The message shows the calculation and the settings to change. */
export class MemoryBudgetError extends Error {
  override name = "MemoryBudgetError";
}

/** `n` is at most 8, and more slots would only share the same cores. */
const maxSlots = 8;

/**
 * Computes the slots (spare one included): memory budget ÷ bytes of one full context in the key-value cache (16-bit keys and
 * values).
 */
export function planSlots(file: GgufFileInfo, settings: ModelSettings): SlotPlan {
  const { contextLength: declared, layers, valuesPerToken } = readDimensions(file);
  const contextLength = settings.contextLength ?? declared;
  const kvBytesPerToken = layers * valuesPerToken * 2;
  const slotBytes = contextLength * kvBytesPerToken;
  const affordable = Math.floor(settings.kvMemoryBytes / slotBytes);
  const spareSlots = affordable > 1 ? 1 : 0;
  const slots = Math.min(maxSlots, affordable - spareSlots);
  const arithmetic = `${contextLength} tokens × ${kvBytesPerToken} bytes = ${megabytes(slotBytes)} per slot`;
  if (slots < 1) {
    throw new MemoryBudgetError(
      `${settings.file}: one slot does not fit the memory budget: ${arithmetic}, and the budget is ${megabytes(settings.kvMemoryBytes)}. ` +
        `Raise PARLEY_KV_MEMORY_MB to at least ${Math.ceil(slotBytes / 2 ** 20)}, or set a smaller context_length for the model in parley.yaml.`,
    );
  }
  const explanation = `${slots} slots${spareSlots > 0 ? " and a spare one" : ""}: ${arithmetic}, budget ${megabytes(settings.kvMemoryBytes)}`;
  return {
    slots,
    spareSlots,
    contextLength,
    kvBytesPerToken,
    steps: stepsOf(contextLength, kvBytesPerToken),
    explanation,
  };
}

/** A sequence of this many bytes moves to a larger cache within some hundredths of a second. */
const movableBytes = 64 * 2 ** 20;

/**
 * Growing stops all slots while sequences move. A cache whose sequences are too large to move quickly has its full size from
 * the start.
 */
const stepsOf = (contextLength: number, kvBytesPerToken: number): number[] => [
  ...[2047, 8191].filter((step) => step < contextLength && 8191 * kvBytesPerToken <= movableBytes),
  contextLength,
];

function readDimensions(file: GgufFileInfo): { contextLength: number; layers: number; valuesPerToken: number } {
  const {
    attention,
    block_count: layers,
    context_length: contextLength,
    embedding_length: width = 0,
  } = file.architectureMetadata;
  const heads = most(attention?.head_count);
  const headSize = width / heads;
  const valuesPerToken =
    most(attention?.head_count_kv ?? heads) *
    ((attention?.key_length ?? headSize) + (attention?.value_length ?? headSize));
  if (!contextLength || !layers || !valuesPerToken) {
    throw new MemoryBudgetError(
      "The model file does not say how large its context and its key-value cache are: it is not a language model.",
    );
  }
  return { contextLength, layers, valuesPerToken };
}

/** In some models the number of heads differs between layers: the largest one counts. */
const most = (count: number | readonly number[] | undefined): number =>
  typeof count === "object" ? Math.max(...count) : (count ?? 0);

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
