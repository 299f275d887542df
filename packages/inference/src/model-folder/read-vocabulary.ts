import { buildVocabulary } from "../prompt/build-vocabulary.ts";
import type { TokenKind } from "../prompt/build-vocabulary.ts";
import type { Vocabulary } from "../prompt/vocabulary.ts";

/** What is used of a `tokenizer.json`. */
export interface TokenizerFile {
  readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
  readonly decoder?: unknown;
  readonly model: { readonly vocab: Readonly<Record<string, number>> | readonly (readonly [string, number])[] };
}

/** The vocabulary in a `tokenizer.json`. */
export function readVocabulary(file: TokenizerFile, template: string): Vocabulary {
  const spellings = spellingsOf(file);
  const added = new Map((file.added_tokens ?? []).map((token) => [token.id, token]));
  const isByteLevel = JSON.stringify(file.decoder ?? null).includes('"ByteLevel"');
  const kindOf = (id: number): TokenKind => {
    const token = added.get(id);
    if (token) return token.special ? "control" : "added";
    return !isByteLevel && /^<0x[0-9A-F]{2}>$/.test(spellings[id] ?? "") ? "byte" : "text";
  };
  return buildVocabulary({ spellings, encoding: isByteLevel ? "byte-level" : "sentence-piece", kindOf }, template);
}

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
