import type { Vocabulary } from "./vocabulary.ts";

/** A number for each kind of byte. They are counted apart, since a token of many blanks says nothing about long words. */
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

/** How many bytes there are of each kind. */
export function countBytes(bytes: Iterable<number>): ByteCounts {
  const counts = { alphanumeric: 0, beyondAscii: 0, other: 0 };
  for (const byte of bytes) counts[kindOf(byte)] += 1;
  return counts;
}

/** The larger number of each kind. */
export const maxOf = (one: ByteCounts, two: ByteCounts): ByteCounts => ({
  alphanumeric: Math.max(one.alphanumeric, two.alphanumeric),
  beyondAscii: Math.max(one.beyondAscii, two.beyondAscii),
  other: Math.max(one.other, two.other),
});

const kinds = ["alphanumeric", "beyondAscii", "other"] as const;

/** A lower bound for the number of tokens of a text, for any tokenizer that has this vocabulary and encodes every byte. */
export function fewestTokensWith(vocabulary: Pick<Vocabulary, "maxBytes">): (text: string) => number {
  let most: ByteCounts | undefined;
  return (text) => {
    const known = (most ??= vocabulary.maxBytes());
    const counts = countBytes(Buffer.from(text));
    return Math.max(...kinds.map((kind) => Math.ceil(counts[kind] / Math.max(1, known[kind]))));
  };
}
