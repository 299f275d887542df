import { LlamaGrammar, LlamaGrammarEvaluationState } from "node-llama-cpp";
import type { LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import { openLlama } from "./open-llama.ts";

/** Measures how long llama.cpp takes to compute the token mask of a grammar over the whole vocabulary. */
export interface MaskTimer {
  readonly vocabularySize: number;
  /**
   * Returns milliseconds of CPU time per token of the text, minus the time of sampling without a grammar. It stops at the first
   * refused token, after `maxTokens`, or when the signal aborts.
   */
  time(grammar: string, text: string, maxTokens: number, stop: AbortSignal): Promise<number[]>;
}

/** The native objects below node-llama-cpp's public types: see `src/embedded/child/slot.ts`. */
interface NativeSampler {
  applyConfig(config: Readonly<Record<string, unknown>>): void;
}
interface Internals {
  readonly _llama: { readonly _bindings: { readonly AddonSampler: new (model: unknown) => NativeSampler } };
  readonly _model: unknown;
}
type SampleToken = (logitIndex: number, sampler: NativeSampler, ...rest: unknown[]) => Promise<[token: number]>;
interface SequenceInternals {
  readonly _context: { readonly _ctx: { sampleToken: SampleToken } };
  readonly _tokenMeter: unknown;
  _decodeTokens(...args: unknown[]): Promise<unknown>;
}

/** Asking for logits makes the native side apply the grammar to all tokens, not only to the one that it would choose. */
const wholeVocabulary = [false, false, [[], false, false, false, 1], false];

/**
 * The process must be ended with `process.exit`, because disposing llama.cpp sometimes hangs.
 * @param modelFile a GGUF file; only its vocabulary matters
 */
export async function openMaskTimer(modelFile: string): Promise<MaskTimer> {
  const llama = await openLlama();
  const model = await llama.loadModel({ modelPath: modelFile, ignoreMemorySafetyChecks: true });
  const context = await model.createContext({ sequences: 1, contextSize: 64, ignoreMemorySafetyChecks: true });
  const sample = await decodeOnce(context.getSequence(), model);
  const plain = await repeat(20, () => sample(0, undefined));
  const baseline = plain.map(({ ms }) => ms).toSorted((a, b) => a - b)[10] ?? 0;
  return {
    vocabularySize: model.fileInfo.metadata.tokenizer.ggml.tokens.length,
    time: async (text, instance, maxTokens, stop) => {
      const grammar = new LlamaGrammar(llama, { grammar: text });
      const state = new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { _state: unknown };
      const times: number[] = [];
      for (const token of model.tokenize(instance).slice(0, maxTokens)) {
        if (stop.aborted) break;
        const { chosen, ms } = await sample(token, state._state);
        times.push(Math.max(0, ms - baseline));
        if (chosen !== token) break;
      }
      return times;
    },
  };
}

type Sample = (wanted: number, grammarState: unknown) => Promise<{ readonly chosen: number; readonly ms: number }>;

/** Decodes one token to get logits. They are kept, and each sample prefers the wanted token. */
async function decodeOnce(sequence: LlamaContextSequence, model: LlamaModel): Promise<Sample> {
  // Both casts reach the hidden members above.
  const { _llama: llama, _model: native } = model as unknown as Internals;
  const internals = sequence as unknown as SequenceInternals;
  const sampler = new llama._bindings.AddonSampler(native);
  const shift = { size: 1, strategy: "eraseBeginning" };
  await internals._decodeTokens([0 as Token], [true], 1, internals._tokenMeter, shift, () => Promise.resolve());
  const { _ctx: context } = internals._context;
  return async (wanted, grammarState) => {
    sampler.applyConfig({
      temperature: 0,
      tokenBiasKeys: Uint32Array.of(wanted),
      tokenBiasValues: Float32Array.of(1e5),
      ...(grammarState !== undefined && { grammarEvaluationState: grammarState }),
    });
    const before = process.cpuUsage();
    const [chosen] = await context.sampleToken(0, sampler, ...wholeVocabulary);
    const { user, system } = process.cpuUsage(before);
    return { chosen, ms: (user + system) / 1000 };
  };
}

async function repeat<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let turn = 0; turn < count; turn += 1) results.push(await act());
  return results;
}
