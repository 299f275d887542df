import { fewestTokensWith } from "../prompt/fewest-tokens.ts";
import { PromptRenderer } from "../prompt/render-prompt.ts";
import type { PromptModel } from "../prompt/render-prompt.ts";
import type { ModelFolder } from "./model-folder.ts";
import { openTokenizer } from "./open-tokenizer.ts";
import { isByteLevel } from "./read-vocabulary.ts";

/** Opens the prompt renderer of a model: its chat template and tokenizer. */
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

/** Gives a lower bound only for tokenizers that encode the whole text. Others may leave out some of it. */
function fewestTokensOf({ tokenizer, vocabulary }: ModelFolder): Pick<PromptModel, "fewestTokens"> {
  const { normalizer } = tokenizer.file;
  if (!isByteLevel(tokenizer.file)) return {};
  const fewestTokens = fewestTokensWith(vocabulary);
  if (!normalizer) return { fewestTokens };
  return normalizer.type === "NFC" ? { fewestTokens: (text) => fewestTokens(text.normalize("NFC")) } : {};
}
