import type { GgufFileInfo, LlamaModelOptions, Token } from "node-llama-cpp";
import { fewestTokensWith } from "../../prompt/fewest-tokens.ts";
import { PromptRenderer } from "../../prompt/render-prompt.ts";
import { openLlama, readModelFile } from "./open-llama.ts";
import { readVocabulary } from "./vocabulary.ts";

/** Kinds of tokenizers that encode the whole text. Others leave out some of it. */
const encodesEveryByte = ({ metadata }: GgufFileInfo): boolean =>
  ["gpt2", "llama"].includes(metadata.tokenizer.ggml.model);

/** Opens the prompt renderer of a model: its chat template and tokenizer, without its weights. */
export async function openRenderer(modelFile: string): Promise<PromptRenderer> {
  const file = await readModelFile(modelFile);
  const llama = await openLlama(1);
  // node-llama-cpp reads this option but does not declare it. Without it the weights would be loaded a second time.
  const vocabularyOnly = { vocabOnly: true } as Partial<LlamaModelOptions>;
  const model = await llama.loadModel({ modelPath: modelFile, ignoreMemorySafetyChecks: true, ...vocabularyOnly });
  const vocabulary = readVocabulary(file);
  const spell = (token: Token | null): string => (token === null ? "" : vocabulary.spellingOf(token));
  return new PromptRenderer({
    template: file.metadata.tokenizer.chat_template ?? "",
    specialTokens: vocabulary.specialTokens,
    bosToken: spell(model.tokens.bos),
    eosToken: spell(model.tokens.eos),
    ...(encodesEveryByte(file) && { fewestTokens: fewestTokensWith(vocabulary) }),
    tokenize: (text) => model.tokenize(text, true, "trimLeadingSpace"),
  });
}
