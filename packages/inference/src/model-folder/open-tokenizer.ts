import { Tokenizer } from "@huggingface/tokenizers";
import { anyOf } from "../prompt/escape-special-tokens.ts";
import type { ModelFolder } from "./model-folder.ts";
import type { AddedToken, TokenizerFile } from "./read-vocabulary.ts";

/**
 * Returns a function that turns a text into token ids. It recognizes special tokens, and reads half of a surrogate pair as
 * U+FFFD.
 */
export function openTokenizer({ tokenizer }: Pick<ModelFolder, "tokenizer">): (text: string) => number[] {
  const encoder = new Tokenizer(tokenizer.file, tokenizer.config);
  const encode = encodeByWords(encoder, tokenizer.file);
  return (text) => {
    const ids: number[] = [];
    if (!encode) return encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
    encode(text.toWellFormed(), ids);
    return ids;
  };
}

/**
 * The members of the library's objects that are used here, because TypeScript cannot resolve the library's own declarations.
 */
interface Encoder {
  readonly normalizer: ((text: string) => string) | null;
  readonly pre_tokenizer: PreTokenizer | null;
  readonly model: {
    /** Turns each word into tokens, independently of its neighbours. */
    encode: (words: readonly string[]) => string[];
    readonly fuse_unk: boolean;
    readonly unk_token_id?: number;
  };
  readonly remove_space?: boolean;
  readonly do_lowercase_and_remove_accent?: boolean;
  token_to_id: (token: string) => number | undefined;
}

interface PreTokenizer {
  /** The steps of a sequence. Each splits or spells the result of the previous one. */
  readonly tokenizers?: readonly (PreTokenizer | null)[];
  readonly config?: { readonly type: string; readonly behavior?: string; readonly invert?: boolean };
  readonly pattern?: RegExp | null;
  readonly use_regex?: boolean;
  readonly add_prefix_space?: boolean;
  pre_tokenize_text: (text: string) => string[];
}

/** Appends the ids of a text. */
type Encode = (text: string, ids: number[]) => void;

/**
 * Encodes word by word, and keeps the ids of each word: in a short prompt, the library spends most of its time on words that it
 * has met before. That works for tokenizers which cut a text into words and then spell the bytes of each, as those of Llama 3,
 * Qwen and DeepSeek do.
 * @returns undefined for any other tokenizer
 */
function encodeByWords(encoder: Encoder, file: TokenizerFile): Encode | undefined {
  const { normalizer, model } = encoder;
  const steps = encoder.pre_tokenizer?.tokenizers ?? [];
  const speller = steps.at(-1);
  const cutters = steps.slice(0, -1).filter((step) => step !== null);
  if (!speller || !isPlainSpeller(speller) || !cutters.every(isCutter)) return undefined;
  if (encoder.remove_space === true || encoder.do_lowercase_and_remove_accent === true || model.fuse_unk)
    return undefined;
  const idsOf = rememberWords((word) =>
    // The library does this as well, even if the vocabulary lacks both.
    model.encode(spell(word, speller)).map((token) => (encoder.token_to_id(token) ?? model.unk_token_id) as number),
  );
  const encodeWords: Encode = (text, ids) => {
    let words: readonly string[] = [text];
    for (const cutter of cutters)
      words = words.length === 1 ? cut(words[0] ?? "", cutter) : words.flatMap((word) => cut(word, cutter));
    for (const word of words) for (const id of word === "" ? [] : idsOf(word)) ids.push(id);
  };
  const added = file.added_tokens ?? [];
  if (!normalizer) return betweenTokens(added, encodeWords);
  // Some special tokens are searched only in the normalized text, by their normalized spelling.
  const late = added.filter(({ normalized }) => normalized === true);
  const normalized = late.map((token) => ({ ...token, content: normalizer(token.content) }));
  const encodeNormalized = betweenTokens(normalized, encodeWords);
  const early = added.filter((token) => !late.includes(token));
  return betweenTokens(early, (text, ids) => encodeNormalized(normalizer(text), ids));
}

/** Appends the ids of the special tokens in a text, and encodes the rest. */
function betweenTokens(tokens: readonly AddedToken[], encode: Encode): Encode {
  if (tokens.length === 0) return encode;
  const bySpelling = new Map(tokens.map((token) => [token.content, token]));
  const spellings = new RegExp(`(${anyOf([...bySpelling.keys()])})`, "u");
  return (text, ids) => {
    // Every second part is a special token.
    const parts = text.split(spellings);
    for (const [at, part] of parts.entries()) {
      if (at % 2 === 0) {
        // A token may include the blanks around it.
        const isAfter = bySpelling.get(parts[at - 1] ?? "")?.rstrip === true;
        const isBefore = bySpelling.get(parts[at + 1] ?? "")?.lstrip === true;
        const rest = isBefore ? part.trimEnd() : part;
        encode(isAfter ? rest.trimStart() : rest, ids);
      } else ids.push(bySpelling.get(part)?.id ?? 0);
    }
  };
}

/** True for a pattern that depends only on the part of the text that it splits. */
const isCutter = ({ config }: PreTokenizer): boolean => config?.type === "Split" || config?.type === "Digits";

/**
 * Splits a text by a pattern. If the matches cover the whole text, as with most tokenizers, one call finds them all; the
 * library examines each.
 */
function cut(part: string, cutter: PreTokenizer): readonly string[] {
  const { pattern, config } = cutter;
  const words = pattern && config?.behavior === "Isolated" && config.invert === false ? part.match(pattern) : null;
  return words && isWhole(part, words) ? words : cutter.pre_tokenize_text(part);
}

function isWhole(part: string, words: readonly string[]): boolean {
  let length = 0;
  for (const word of words) length += word.length;
  return length === part.length;
}

/**
 * Checks if a step of the pre-tokenizer only replaces bytes by characters. A ByteLevel step may also split, or add a space in
 * front.
 */
const isPlainSpeller = ({ config, use_regex, add_prefix_space }: PreTokenizer): boolean =>
  config?.type === "ByteLevel" && use_regex !== true && add_prefix_space !== true;

/** Bounds the memory of a model's cache of words to about two megabytes. */
const maxWords = 10_000;
const maxCharacters = 32;

function rememberWords(encode: (word: string) => readonly number[]): (word: string) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return (word) => {
    const ids = known.get(word);
    if (ids) return ids;
    const copy = copyOf(word);
    const found = encode(copy);
    if (known.size >= maxWords) known.clear();
    if (copy.length <= maxCharacters) known.set(copy, found);
    return found;
  };
}

const printable = /^[\n -~]*$/;

/** Copies a word. V8 stores a long word as a reference to its text, so a cached word would keep the whole text in memory. */
const copyOf = (word: string): string => Buffer.from(word).toString();

/**
 * Spells a word. In printable ASCII, only blanks and line breaks differ; the library looks up each byte, which takes much
 * longer.
 */
const spell = (word: string, speller: PreTokenizer): string[] =>
  printable.test(word) ? [word.replaceAll(" ", "Ġ").replaceAll("\n", "Ċ")] : speller.pre_tokenize_text(word);
