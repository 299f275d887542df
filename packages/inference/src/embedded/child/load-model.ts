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
import { openLlama } from "./open-llama.ts";
import { SlotPool } from "./slot-pool.ts";
import { Slot } from "./slot.ts";
import { describeWith } from "../../prompt/vocabulary.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { readVocabulary } from "./vocabulary.ts";

/** A model in memory with its slots, and what a choice needs of it. */
export interface LoadedModel {
  readonly file: GgufFileInfo;
  /** The name and version of the inference library. */
  readonly engine: string;
  readonly vocabulary: Vocabulary;
  readonly capabilities: Capabilities;
  readonly plan: SlotPlan;
  readonly slots: SlotPool;
  readonly progress: Progress;
  isEndOfTurn(token: number): boolean;
  readonly describe: (token: number) => OutputToken;
  /** Token ids of the special tokens and white space that structure an answer. */
  encodeStructure(text: string): readonly number[];
  /** A fresh evaluation of a grammar (GBNF) for the native sampler; undefined stays undefined. */
  startGrammar(grammar: string | undefined): unknown;
  dispose(): Promise<void>;
}

/**
 * Loads a model file and creates its slots.
 * @param file the header of the file, which has been checked
 * @param onProgress called with 0 to 1 while the weights are read
 * @throws {ModelFileError} {MemoryBudgetError} faults that a restart cannot correct
 */
export async function loadModel(
  settings: ModelSettings,
  file: GgufFileInfo,
  onProgress: (share: number) => void,
): Promise<LoadedModel> {
  const plan = planSlots(file, settings);
  let reported: string | undefined;
  const llama = await openLlama(settings.threads, (message) => {
    reported ??= message;
    process.stderr.write(`${message}\n`);
  });
  const model = await llama
    .loadModel({ modelPath: settings.file, onLoadProgress: onProgress, ignoreMemorySafetyChecks: true })
    .catch((error: unknown) => {
      throw cannotLoad(settings.file, reported ?? String(error));
    });
  const context = await model.createContext({
    sequences: plan.slots,
    // llama.cpp keeps the last cell of a sequence free.
    contextSize: plan.contextLength + 1,
    threads: settings.threads,
    batchSize: 512,
    ignoreMemorySafetyChecks: true,
  });
  const progress = new Progress();
  const scheduler = new BatchScheduler({ now: () => performance.now(), nextCycle: () => setImmediate() });
  const shared = { model, scheduler, progress };
  const slots = Array.from({ length: plan.slots }, () => new Slot(context.getSequence(), shared));
  const vocabulary = readVocabulary(file);
  return {
    file,
    engine: `llama.cpp ${llama.llamaCppRelease.release}`,
    plan,
    vocabulary,
    capabilities: capabilitiesOf(file.metadata.tokenizer.chat_template ?? "", vocabulary.specialTokens),
    slots: new SlotPool(slots),
    progress,
    // node-llama-cpp's `Token` is a branded number.
    isEndOfTurn: (token) => model.isEogToken(token as Token),
    describe: describeWith(vocabulary),
    encodeStructure: encoderOf(model),
    startGrammar: grammarsOf(model),
    dispose: () => llama.dispose(),
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
    // `_state` is what the native sampler takes; the public class only hides it.
    return (new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { _state: unknown })._state;
  };
}
