import type { OutputToken } from "../../engine.ts";

/** Splits a text into the tokens of this engine: words, each with the white space before it. */
export const splitWords = (text: string): string[] => text.match(/\s*\S+|\s+$/gu) ?? [];

const encoder = new TextEncoder();

/** Returns a word as a token. All tokens have the same log-probability. */
export function tokenOf(token: string, topLogprobs: number | undefined): OutputToken {
  const bytes = [...encoder.encode(token)];
  const id = bytes.reduce((sum, byte) => (sum * 31 + byte) % 65_536, 7);
  if (topLogprobs === undefined) return { id, token, bytes };
  return { id, token, bytes, logprob: -0.25, top: [{ token, bytes, logprob: -0.25 }].slice(0, topLogprobs) };
}
