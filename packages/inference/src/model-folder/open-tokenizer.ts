import { Tokenizer } from "@huggingface/tokenizers";
import type { ModelFolder } from "./model-folder.ts";

/** Text to token ids, special tokens included; half a surrogate pair is read as U+FFFD. */
export function openTokenizer({ tokenizer }: Pick<ModelFolder, "tokenizer">): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  spellAsciiFast(encoder.pre_tokenizer as PreTokenizer | null);
  return (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
}

/** What the library's declarations say of its pre-tokenizers. They import each other in a way that Node's resolution does not find. */
interface PreTokenizer {
  /** Of a sequence. */
  readonly tokenizers?: readonly (PreTokenizer | null)[];
  readonly config?: { readonly type: string };
  readonly use_regex?: boolean;
  readonly add_prefix_space?: boolean;
  pre_tokenize_text: (text: string, options?: unknown) => string[];
}

const printable = /^[\n -~]*$/;

/**
 * A byte-level tokenizer spells each byte by a character. The library looks up byte after byte, which takes more than half of the
 * time of a prompt. In printable ASCII, only blanks and line breaks have another spelling.
 */
function spellAsciiFast(preTokenizer: PreTokenizer | null): void {
  if (preTokenizer === null) return;
  for (const one of preTokenizer.tokenizers ?? []) spellAsciiFast(one);
  const { config, use_regex, add_prefix_space } = preTokenizer;
  if (config?.type !== "ByteLevel" || use_regex === true || add_prefix_space === true) return;
  const spell = preTokenizer.pre_tokenize_text.bind(preTokenizer);
  preTokenizer.pre_tokenize_text = (text) =>
    printable.test(text) ? [text.replaceAll(" ", "Ġ").replaceAll("\n", "Ċ")] : spell(text);
}
