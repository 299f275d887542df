import { buildVocabulary } from "../prompt/build-vocabulary.ts";
import type { TokenKind } from "../prompt/build-vocabulary.ts";
import type { Vocabulary } from "../prompt/vocabulary.ts";

/** The members of a `tokenizer.json` that are used. */
export interface TokenizerFile {
  readonly added_tokens?: readonly AddedToken[];
  readonly decoder?: unknown;
  /** The normalizer, which changes a text before it is encoded; null: none. */
  readonly normalizer?: { readonly type: string } | null;
  readonly model: { readonly vocab: Readonly<Record<string, number>> | readonly (readonly [string, number])[] };
}

/** A token added to those of the model, such as `<|im_end|>`. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  /** True if the token includes the blanks before it (`lstrip`) or after it (`rstrip`). */
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
  /** True if it is searched in the normalized text. */
  readonly normalized?: boolean;
}

/** Reads the vocabulary of a `tokenizer.json`. */
export function readVocabulary(file: TokenizerFile, template: string): Vocabulary {
  const spellings = spellingsOf(file);
  const added = new Map((file.added_tokens ?? []).map((token) => [token.id, token]));
  const encoding = isByteLevel(file) ? "byte-level" : "sentence-piece";
  const kindOf = (id: number): TokenKind => {
    const token = added.get(id);
    if (token) return token.special ? "control" : "added";
    return encoding === "sentence-piece" && /^<0x[0-9A-F]{2}>$/.test(spellings[id] ?? "") ? "byte" : "text";
  };
  return buildVocabulary({ spellings, encoding, kindOf }, template);
}

/** Checks if a tokenizer is byte-level. Such tokenizers encode every byte of a text. */
export const isByteLevel = ({ decoder }: TokenizerFile): boolean =>
  JSON.stringify(decoder ?? null).includes('"ByteLevel"');

function spellingsOf({ model, added_tokens = [] }: TokenizerFile): string[] {
  const { vocab } = model;
  const spellings: string[] = [];
  if (isList(vocab)) for (const [id, [spelling]] of vocab.entries()) spellings[id] = spelling;
  else for (const [spelling, id] of Object.entries(vocab)) spellings[id] = spelling;
  for (const { id, content } of added_tokens) spellings[id] = content;
  return spellings;
}

const isList = (vocab: TokenizerFile["model"]["vocab"]): vocab is readonly (readonly [string, number])[] =>
  Array.isArray(vocab);
