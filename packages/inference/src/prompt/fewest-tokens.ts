import type { Vocabulary } from "./vocabulary.ts";

/**
 * A number for each kind of byte. Kinds are counted separately, because a token of many blanks does not show how long words
 * can be.
 */
export interface ByteCounts {
  readonly alphanumeric: number;
  readonly beyondAscii: number;
  readonly other: number;
}

const kindOf = (byte: number): keyof ByteCounts => {
  if (byte >= 0x80) return "beyondAscii";
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLetter = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
  return isDigit || isLetter ? "alphanumeric" : "other";
};

/** Counts the bytes of each kind. */
export function countBytes(bytes: Iterable<number>): ByteCounts {
  const counts = { alphanumeric: 0, beyondAscii: 0, other: 0 };
  for (const byte of bytes) counts[kindOf(byte)] += 1;
  return counts;
}

/** Returns the larger number of each kind. */
export const maxOf = (one: ByteCounts, two: ByteCounts): ByteCounts => ({
  alphanumeric: Math.max(one.alphanumeric, two.alphanumeric),
  beyondAscii: Math.max(one.beyondAscii, two.beyondAscii),
  other: Math.max(one.other, two.other),
});

const kinds = ["alphanumeric", "beyondAscii", "other"] as const;

/**
 * Returns a function that gives a lower bound for the number of tokens of a text. It holds for any tokenizer with this
 * vocabulary that encodes every byte.
 */
export function fewestTokensWith(vocabulary: Pick<Vocabulary, "maxBytes">): (text: string) => number {
  let most: ByteCounts | undefined;
  return (text) => {
    const known = (most ??= vocabulary.maxBytes());
    const counts = countBytes(Buffer.from(text));
    return Math.max(...kinds.map((kind) => Math.ceil(counts[kind] / Math.max(1, known[kind]))));
  };
}
