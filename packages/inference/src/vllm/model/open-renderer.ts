import { Tokenizer } from "@huggingface/tokenizers";
import { PromptRenderer } from "../../prompt/render-prompt.ts";
import type { ModelFolder } from "./model-folder.ts";

/** The prompts of a model: its own chat template and tokenizer. */
export function openRenderer({ tokenizer, template, vocabulary, bosToken, eosToken }: ModelFolder): PromptRenderer {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  return new PromptRenderer({
    template,
    marks: vocabulary.marks,
    bosToken,
    eosToken,
    tokenize: (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids,
  });
}
