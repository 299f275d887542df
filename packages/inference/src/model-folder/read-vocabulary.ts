import { isSpecialSpelling } from "../prompt/special-tokens.ts";
import { bytesOfByteLevel, bytesOfSentencePiece, utf8 } from "../prompt/token-bytes.ts";
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
  const specialTokens = new Map<string, number>();
  for (const { id, content, special } of added.values()) {
    if (special || isSpecialSpelling(content, template)) specialTokens.set(content, id);
  }
  const toBytes = JSON.stringify(file.decoder ?? null).includes('"ByteLevel"') ? bytesOfByteLevel : bytesOfPiece;
  const known: (readonly number[] | undefined)[] = [];
  const read = (id: number): readonly number[] => {
    const token = added.get(id);
    if (token) return token.special ? [] : utf8(token.content);
    return toBytes(spellings[id] ?? "");
  };
  return {
    size: spellings.length,
    bytesOf: (id) => (known[id] ??= read(id)),
    spellingOf: (id) => spellings[id] ?? "",
    specialTokenId: (spelling) => specialTokens.get(spelling),
    specialTokens: [...specialTokens.keys()],
  };
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

function bytesOfPiece(spelling: string): readonly number[] {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(spelling)?.[1];
  return byte === undefined ? bytesOfSentencePiece(spelling) : [Number.parseInt(byte, 16)];
}
