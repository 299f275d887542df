import type { OutputToken } from "../engine.ts";

/** What a token id stands for. */
export interface Vocabulary {
  readonly size: number;
  /** The raw bytes that a token writes; none for a control token. */
  bytesOf(token: number): readonly number[];
  /** The spelling, control tokens included. */
  spellingOf(token: number): string;
  /** The token that is spelled exactly so and is more than text (`<tool_call>`), or undefined. */
  readonly specialTokenId: (spelling: string) => number | undefined;
  /** Every spelling that a template could give a meaning to. */
  readonly specialTokens: readonly string[];
}

/** Tokens as an answer reports them. */
export function describeWith(vocabulary: Vocabulary): (token: number) => OutputToken {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return (id) => {
    const bytes = vocabulary.bytesOf(id);
    const token = bytes.length === 0 ? vocabulary.spellingOf(id) : decoder.decode(Uint8Array.from(bytes));
    return { id, token, bytes };
  };
}
