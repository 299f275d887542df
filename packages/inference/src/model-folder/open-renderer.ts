import { Tokenizer } from "@huggingface/tokenizers";
import { fewestTokensWith } from "../prompt/fewest-tokens.ts";
import { PromptRenderer } from "../prompt/render-prompt.ts";
import type { PromptModel } from "../prompt/render-prompt.ts";
import type { ModelFolder } from "./model-folder.ts";
import { isByteLevel } from "./read-vocabulary.ts";

/** The prompts of a model: its own chat template and tokenizer. */
export function openRenderer(folder: ModelFolder): PromptRenderer {
  const { template, vocabulary, bosToken, eosToken } = folder;
  return new PromptRenderer({
    template,
    specialTokens: vocabulary.specialTokens,
    bosToken,
    eosToken,
    ...fewestTokensOf(folder),
    tokenize: openTokenizer(folder),
  });
}

/** Nothing is known of tokenizers that may leave out some of the text. */
function fewestTokensOf({ tokenizer, vocabulary }: ModelFolder): Pick<PromptModel, "fewestTokens"> {
  const { normalizer } = tokenizer.file;
  if (!isByteLevel(tokenizer.file)) return {};
  const fewestTokens = fewestTokensWith(vocabulary);
  if (!normalizer) return { fewestTokens };
  return normalizer.type === "NFC" ? { fewestTokens: (text) => fewestTokens(text.normalize("NFC")) } : {};
}

/** Text to token ids, special tokens included; half a surrogate pair is read as U+FFFD. */
export function openTokenizer({ tokenizer }: ModelFolder): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  return (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
}
