import { countBytes, maxOf } from "./fewest-tokens.ts";
import type { ByteCounts } from "./fewest-tokens.ts";
import { isSpecialSpelling } from "./special-tokens.ts";
import { bytesOfByteLevel, bytesOfSentencePiece, utf8 } from "./token-bytes.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A vocabulary as the file of a model lists it: GGUF or `tokenizer.json`. */
export interface TokenList {
  /** By token id; an id without a token is a hole. */
  readonly spellings: readonly (string | undefined)[];
  /** How the spelling of an ordinary token stands for bytes. */
  readonly encoding: "byte-level" | "sentence-piece";
  readonly kindOf: (token: number) => TokenKind;
}

/**
 * - `text`: an ordinary token
 * - `byte`: one byte, spelled `<0x0A>`
 * - `added`: stands for its spelling; special where the template gives it a meaning
 * - `control`: special, and writes nothing
 * - `reserved`: special, spelled like text
 */
export type TokenKind = "text" | "byte" | "added" | "control" | "reserved";

/** @param template the model's chat template */
export function buildVocabulary({ spellings, encoding, kindOf }: TokenList, template: string): Vocabulary {
  const specialTokens = new Map<string, number>();
  for (const [id, spelling = ""] of spellings.entries()) {
    if (spelling !== "" && isSpecial(spelling, kindOf(id), template)) specialTokens.set(spelling, id);
  }
  const known: (readonly number[] | undefined)[] = [];
  return {
    size: spellings.length,
    bytesOf: (id) => (known[id] ??= bytesOf(spellings[id] ?? "", kindOf(id), encoding)),
    maxBytes: () => maxBytesOf({ spellings, encoding, kindOf }),
    spellingOf: (id) => spellings[id] ?? "",
    specialTokenId: (spelling) => specialTokens.get(spelling),
    specialTokens: [...specialTokens.keys()],
    specialTokenIds: [...specialTokens.values()],
  };
}

const isSpecial = (spelling: string, kind: TokenKind, template: string): boolean =>
  kind === "control" || kind === "reserved" || (kind === "added" && isSpecialSpelling(spelling, template));

/**
 * Returns the maximum bytes of each kind that one token stands for. In a prompt, a special token stands for its spelling even
 * if it writes nothing.
 */
function maxBytesOf({ spellings, encoding, kindOf }: TokenList): ByteCounts {
  return spellings
    .map((spelling = "", id) => (kindOf(id) === "control" ? utf8(spelling) : bytesOf(spelling, kindOf(id), encoding)))
    .map(countBytes)
    .reduce(maxOf, countBytes([]));
}

function bytesOf(spelling: string, kind: TokenKind, encoding: TokenList["encoding"]): readonly number[] {
  if (kind === "control") return [];
  if (kind === "added") return utf8(spelling);
  if (kind === "byte") return [Number.parseInt(spelling.slice("<0x".length, -1), 16)];
  return encoding === "byte-level" ? bytesOfByteLevel(spelling) : bytesOfSentencePiece(spelling);
}
