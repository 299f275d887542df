import { Tokenizer } from "@huggingface/tokenizers";
import type { ModelFolder } from "./model-folder.ts";

/** The result turns a text into token ids. It recognizes special tokens, and reads half a surrogate pair as U+FFFD. */
export function openTokenizer({ tokenizer }: Pick<ModelFolder, "tokenizer">): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  spellAsciiFast(encoder.pre_tokenizer as PreTokenizer | null);
  return (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
}

/** The members of the library's pre-tokenizers that are used here. TypeScript cannot resolve the library's own declarations of them. */
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
 * Replaces how a byte-level tokenizer spells each byte of a text as a character. The library looks up each byte, which takes more than
 * half of the time of a prompt. In printable ASCII, only blanks and line breaks are spelled differently.
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
