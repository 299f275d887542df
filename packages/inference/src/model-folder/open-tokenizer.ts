import { Tokenizer } from "@huggingface/tokenizers";
import { escapeForRegExp } from "../prompt/escape-special-tokens.ts";
import type { ModelFolder } from "./model-folder.ts";
import type { TokenizerFile } from "./read-vocabulary.ts";

type AddedToken = NonNullable<TokenizerFile["added_tokens"]>[number];
type Tokenize = (text: string) => number[];

/** The result turns a text into token ids. It recognizes special tokens, and reads half a surrogate pair as U+FFFD. */
export function openTokenizer({ tokenizer }: Pick<ModelFolder, "tokenizer">): Tokenize {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  const byLibrary: Tokenize = (text) => encoder.encode(text, { add_special_tokens: false }).ids;
  const tokenize = encodeByWords(encoder, tokenizer.file, byLibrary) ?? byLibrary;
  return (text) => tokenize(text.toWellFormed());
}

/** The members of the library's objects that are used here. TypeScript cannot resolve the library's own declarations of them. */
interface Encoder {
  readonly pre_tokenizer: PreTokenizer | null;
  /** Turns each word into tokens, whatever the words around it are. */
  readonly model: { encode: (words: readonly string[]) => string[] };
  readonly remove_space?: boolean;
  readonly do_lowercase_and_remove_accent?: boolean;
  token_to_id: (token: string) => number | undefined;
}

interface PreTokenizer {
  /** Of a sequence: each one splits or spells what the one before has made. */
  readonly tokenizers?: readonly (PreTokenizer | null)[];
  readonly config?: { readonly type: string; readonly behavior?: string; readonly invert?: boolean };
  readonly pattern?: RegExp | null;
  readonly use_regex?: boolean;
  readonly add_prefix_space?: boolean;
  pre_tokenize_text: (text: string) => string[];
}

/**
 * Encodes word by word, and caches the ids of each word. Only for a tokenizer that cuts words out by a pattern and spells their
 * bytes, as those of Llama 3 and Qwen do; undefined for every other one. In a short prompt, the library spends most of its time on
 * words that it has met before.
 */
function encodeByWords(encoder: Encoder, file: TokenizerFile, byLibrary: Tokenize): Tokenize | undefined {
  const [splitter, speller, ...others] = encoder.pre_tokenizer?.tokenizers ?? [];
  const { normalizer, added_tokens: added = [] } = file;
  if (!splitter || !speller || others.length > 0 || !isPlainSplitter(splitter) || !isPlainSpeller(speller))
    return undefined;
  if ((normalizer && normalizer.type !== "NFC") || changesText(encoder) || added.some(changesItsSurroundings))
    return undefined;
  const { pattern } = splitter;
  const special = new Map(added.map(({ content, id }) => [content, id]));
  const anySpecial = anyOf([...special.keys()]);
  const idsOf = rememberWords((word) =>
    encoder.model.encode(spell(word, speller)).map((token) => encoder.token_to_id(token) ?? unknown),
  );
  return (text) => {
    const ids: number[] = [];
    for (const part of anySpecial ? text.split(anySpecial) : [text]) {
      const id = special.get(part);
      if (id !== undefined) {
        ids.push(id);
        continue;
      }
      const section = normalizer ? part.normalize("NFC") : part;
      const words: readonly string[] = section.match(pattern) ?? [];
      // The library keeps what is between the words, too.
      if (!isWhole(section, words)) return byLibrary(text);
      for (const word of words) for (const id of idsOf(word)) ids.push(id);
    }
    return ids.includes(unknown) ? byLibrary(text) : ids;
  };
}

/** A token that the vocabulary lacks. */
const unknown = -1;

/** Each match of the pattern is a word. */
const isPlainSplitter = (step: PreTokenizer): step is PreTokenizer & { readonly pattern: RegExp } =>
  step.pattern instanceof RegExp && step.config?.invert !== true && /^isolated$/iu.test(step.config?.behavior ?? "");

/** It spells bytes as characters and does nothing else. */
const isPlainSpeller = ({ config, use_regex, add_prefix_space }: PreTokenizer): boolean =>
  config?.type === "ByteLevel" && use_regex !== true && add_prefix_space !== true;

const changesText = (encoder: Encoder): boolean =>
  encoder.remove_space === true || encoder.do_lowercase_and_remove_accent === true;

const changesItsSurroundings = ({ lstrip, rstrip, normalized }: AddedToken): boolean =>
  lstrip === true || rstrip === true || normalized === true;

/** The longest spelling first, and captured: `split` then keeps what it splits at. */
function anyOf(spellings: readonly string[]): RegExp | undefined {
  if (spellings.length === 0) return undefined;
  const longestFirst = spellings.toSorted((a, b) => b.length - a.length);
  return new RegExp(`(${longestFirst.map(escapeForRegExp).join("|")})`, "u");
}

function isWhole(section: string, words: readonly string[]): boolean {
  let length = 0;
  for (const word of words) length += word === "" ? Number.NaN : word.length;
  return length === section.length;
}

/** Bounds the memory of a model's cache of words to about two megabytes. */
const mostWords = 10_000;
const mostCharacters = 32;

function rememberWords(encode: (word: string) => readonly number[]): (word: string) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return (word) => {
    const ids = known.get(word);
    if (ids) return ids;
    const copy = copyOf(word);
    const found = encode(copy);
    if (known.size >= mostWords) known.clear();
    if (copy.length <= mostCharacters) known.set(copy, found);
    return found;
  };
}

const printable = /^[\n -~]*$/;

/** V8 stores a long word as a reference to its text. Cached as it is, the word would keep the whole text in memory. */
const copyOf = (word: string): string => Buffer.from(word).toString();

/** In printable ASCII, only blanks and line breaks are spelled differently. The library looks up each byte, which takes much longer. */
const spell = (word: string, speller: PreTokenizer): string[] =>
  printable.test(word) ? [word.replaceAll(" ", "Ġ").replaceAll("\n", "Ċ")] : speller.pre_tokenize_text(word);
