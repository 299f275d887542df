import { Tokenizer } from "@huggingface/tokenizers";
import { PromptRenderer } from "../prompt/render-prompt.ts";
import type { ModelFolder } from "./model-folder.ts";

/** The prompts of a model: its own chat template and tokenizer. */
export function openRenderer(folder: ModelFolder): PromptRenderer {
  const { template, vocabulary, bosToken, eosToken } = folder;
  return new PromptRenderer({
    template,
    specialTokens: vocabulary.specialTokens,
    bosToken,
    eosToken,
    tokenize: openTokenizer(folder),
  });
}

/** Text to token ids, special tokens included; half a surrogate pair is read as U+FFFD. */
export function openTokenizer({ tokenizer }: ModelFolder): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  return (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
}
