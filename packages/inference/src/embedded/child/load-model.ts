import { setImmediate } from "node:timers/promises";
import { LlamaGrammar, LlamaGrammarEvaluationState } from "node-llama-cpp";
import type { GgufFileInfo, LlamaModel, Token } from "node-llama-cpp";
import type { OutputToken } from "../../engine.ts";
import { Progress } from "../../child/progress.ts";
import { capabilitiesOf } from "../../prompt/special-tokens.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";
import { BatchScheduler } from "./batch-scheduler.ts";
import { cannotLoad } from "./check-model-file.ts";
import { planSlots } from "../plan-slots.ts";
import type { ModelSettings, SlotPlan } from "../plan-slots.ts";
import { FreeProcessors } from "./free-processors.ts";
import { KvMemory } from "./kv-memory.ts";
import { processorsOf } from "./logits-processors.ts";
import type { LogitsProcessor, ProcessedChoice } from "./logits-processors.ts";
import { openLlama } from "./open-llama.ts";
import { sliceTokens } from "./slices.ts";
import { SlotPool } from "./slot-pool.ts";
import { Slot } from "./slot.ts";
import type { SharedBySlots } from "./slot.ts";
import { describeWith } from "../../prompt/vocabulary.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { readVocabulary } from "./vocabulary.ts";

/** A loaded model with its slots and everything that a choice needs. */
export interface LoadedModel {
  readonly file: GgufFileInfo;
  /** The name and version of the inference library. */
  readonly engine: string;
  readonly vocabulary: Vocabulary;
  readonly capabilities: Capabilities;
  readonly plan: SlotPlan;
  readonly slots: SlotPool;
  /** Must be called whenever slots have been released. Memory that is unused for some time is returned to the system. */
  readonly whenIdle: () => void;
  readonly progress: Progress;
  isEndOfTurn(token: number): boolean;
  readonly describe: (token: number) => OutputToken;
  /** Token ids of the special tokens and white space that structure an answer. */
  encodeStructure(text: string): readonly number[];
  /** Creates the logits processors of a new choice. */
  readonly startProcessors: (choice: ProcessedChoice) => readonly LogitsProcessor[];
  /** Starts a new evaluation of a grammar (GBNF) for the native sampler. Returns undefined for undefined. */
  startGrammar(grammar: string | undefined): unknown;
  dispose(): Promise<void>;
}

/**
 * Loads a model file and creates its slots.
 * @param file the header of the file, already checked
 * @param movePath the file through which sequences are moved when the memory grows or shrinks
 * @param onProgress called with 0 to 1 while the weights are read
 * @throws {ModelFileError} {MemoryBudgetError} for faults that a restart cannot correct
 */
export async function loadModel(
  settings: ModelSettings,
  file: GgufFileInfo,
  movePath: string,
  onProgress: (share: number) => void,
): Promise<LoadedModel> {
  const plan = planSlots(file, settings);
  let reported: string | undefined;
  const llama = await openLlama(settings.promptThreads, (message) => {
    reported ??= message;
    process.stderr.write(`${message}\n`);
  });
  const model = await llama
    .loadModel({ modelPath: settings.file, onLoadProgress: onProgress, ignoreMemorySafetyChecks: true })
    .catch((error: unknown) => {
      throw cannotLoad(settings.file, reported ?? String(error));
    });
  const memory = await KvMemory.create({ model, plan, threads: settings.promptThreads, batchSize, movePath });
  const progress = new Progress();
  const scheduler = new BatchScheduler({ now: () => performance.now(), nextCycle: () => setImmediate() });
  const shared = { model, memory, scheduler, progress, threadsOf: threadsOf(settings) };
  const slots = new SlotPool(
    Array.from({ length: plan.slots + plan.spareSlots }, (_, index) => new Slot(index, shared)),
  );
  const vocabulary = readVocabulary(file);
  // To TypeScript, a `Token` of node-llama-cpp is not an ordinary number.
  const isEndOfTurn = (token: number): boolean => model.isEogToken(token as Token);
  return {
    file,
    engine: `llama.cpp ${llama.llamaCppRelease.release}`,
    plan,
    vocabulary,
    capabilities: capabilitiesOf(file.metadata.tokenizer.chat_template ?? "", vocabulary.specialTokens),
    slots,
    whenIdle: shrinkWhenIdle(shared, slots, settings.idleMs ?? 60_000),
    progress,
    isEndOfTurn,
    describe: describeWith(vocabulary),
    encodeStructure: encoderOf(model),
    startProcessors: processorsOf(settings.processors ?? {}, {
      vocabulary,
      isEndOfTurn,
      encode: (text) => model.tokenize(text, false, "trimLeadingSpace"),
    }),
    startGrammar: grammarsOf(model),
    dispose: () => llama.dispose(),
  };
}

/** A batch holds one slice of a prompt, or the next tokens of every slot. */
const batchSize = sliceTokens;

/**
 * Shorter prompts always use the same number of threads: more threads would save little time, and the rounding of sums depends
 * on their number.
 */
const longPrompt = 512;

/** With flash attention, sums depend on the number of threads, so repeatable requests always use the same number. */
const threadsOf = ({ threads, promptThreads }: ModelSettings): SharedBySlots["threadsOf"] => {
  const free = new FreeProcessors();
  return (kind, { isSolo, prompt }) =>
    kind === "answer" || isSolo || prompt.length < longPrompt
      ? threads
      : Math.max(threads, Math.min(promptThreads, free.count()));
};

function shrinkWhenIdle({ memory, scheduler }: SharedBySlots, slots: SlotPool, idleMs: number): () => void {
  const job = { kind: "prompt", isSolo: false, key: "", sequence: memory } as const;
  const never = new AbortController().signal;
  const shrink = async (): Promise<void> => {
    if (slots.running === 0) await memory.shrink();
  };
  const report = (error: unknown): void => void process.stderr.write(`memory cannot shrink: ${String(error)}\n`);
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => void scheduler.run(job, shrink, never).catch(report), idleMs).unref();
  };
}

function encoderOf(model: LlamaModel): (text: string) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return (text) => {
    const tokens = known.get(text) ?? model.tokenize(text, true, "trimLeadingSpace");
    known.set(text, tokens);
    return tokens;
  };
}

/** Compiling a grammar costs more than evaluating it, so the 64 most recently used ones are kept. */
function grammarsOf(model: LlamaModel): (grammar: string | undefined) => unknown {
  const kept = new Map<string, LlamaGrammar>();
  return (text) => {
    if (text === undefined) return undefined;
    const grammar = kept.get(text) ?? new LlamaGrammar(model.llama, { grammar: text });
    kept.delete(text);
    kept.set(text, grammar);
    for (const oldest of kept.keys()) if (kept.size > 64) kept.delete(oldest);
    // The native sampler takes `_state`, which the public class hides.
    return (new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { _state: unknown })._state;
  };
}
