import { Tokenizer } from "@huggingface/tokenizers";
import type { ModelFolder } from "./model-folder.ts";

/** The result turns a text into token ids. It recognizes special tokens, and reads half a surrogate pair as U+FFFD. */
export function openTokenizer({ tokenizer }: Pick<ModelFolder, "tokenizer">): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  rememberWords(encoder);
  return (text) => encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
}

/** The members of the library's objects that are used here. TypeScript cannot resolve the library's own declarations of them. */
interface Encoder {
  readonly pre_tokenizer: PreTokenizer | null;
  /** Turns each word into tokens, whatever the words around it are. */
  readonly model: { encode: (words: readonly string[]) => string[] };
}

interface PreTokenizer {
  /** Of a sequence: each one splits or spells what the one before has made. */
  tokenizers?: readonly (PreTokenizer | null)[];
  readonly config?: { readonly type: string };
  readonly use_regex?: boolean;
  readonly add_prefix_space?: boolean;
  pre_tokenize_text: (text: string) => string[];
}

/** Bounds the memory of a model's cache of words to about two megabytes. */
const mostWords = 10_000;
const mostCharacters = 32;

/**
 * Caches the tokens of each word, if the tokenizer is a byte-level one, which encodes every word by itself. Spelling and encoding words
 * takes most of the time that a prompt needs.
 */
function rememberWords({ pre_tokenizer, model }: Encoder): void {
  const steps = pre_tokenizer?.tokenizers;
  const speller = steps?.at(-1);
  if (!pre_tokenizer || !steps || !speller || !isPlainSpeller(speller)) return;
  pre_tokenizer.tokenizers = steps.slice(0, -1);
  const encode = model.encode.bind(model);
  const known = new Map<string, readonly string[]>();
  model.encode = (words) => {
    const all: string[] = [];
    for (const word of words) {
      let tokens = known.get(word);
      if (tokens === undefined) {
        const copy = copyOf(word);
        tokens = encode(spell(copy, speller));
        if (known.size >= mostWords) known.clear();
        if (copy.length <= mostCharacters) known.set(copy, tokens);
      }
      for (const token of tokens) all.push(token);
    }
    return all;
  };
}

/** Whether it spells bytes as characters and does nothing else. */
const isPlainSpeller = ({ config, use_regex, add_prefix_space }: PreTokenizer): boolean =>
  config?.type === "ByteLevel" && use_regex !== true && add_prefix_space !== true;

const printable = /^[\n -~]*$/;

/** V8 stores a long word as a reference to its text. Cached as it is, the word would keep the whole text in memory. */
const copyOf = (word: string): string => Buffer.from(word).toString();

/** In printable ASCII, only blanks and line breaks are spelled differently. The library looks up each byte, which takes much longer. */
const spell = (word: string, speller: PreTokenizer): string[] =>
  printable.test(word) ? [word.replaceAll(" ", "Ġ").replaceAll("\n", "Ċ")] : speller.pre_tokenize_text(word);
