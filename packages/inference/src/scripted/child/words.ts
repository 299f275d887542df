import type { OutputToken } from "../../engine.ts";

/** Words with the blank before them: the tokens of this engine. */
export const splitWords = (text: string): string[] => text.match(/\s*\S+|\s+$/gu) ?? [];

const encoder = new TextEncoder();

/** A word as a token; every token is as likely as every other one. */
export function pieceOf(token: string, topLogprobs: number | undefined): OutputToken {
  const bytes = [...encoder.encode(token)];
  const id = bytes.reduce((sum, byte) => (sum * 31 + byte) % 65_536, 7);
  if (topLogprobs === undefined) return { id, token, bytes };
  return { id, token, bytes, logprob: -0.25, top: [{ token, bytes, logprob: -0.25 }].slice(0, topLogprobs) };
}
