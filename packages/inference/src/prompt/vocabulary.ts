import type { OutputToken } from "../engine.ts";
import type { ByteCounts } from "./fewest-tokens.ts";

/** What a token id stands for. */
export interface Vocabulary {
  readonly size: number;
  /** The raw bytes that a token writes; none for a special token that is no text. */
  bytesOf(token: number): readonly number[];
  /** The most bytes of each kind that one token stands for. It reads the whole vocabulary. */
  maxBytes(): ByteCounts;
  /** The spelling, those of special tokens included. */
  spellingOf(token: number): string;
  /** The special token (such as `<tool_call>`) with exactly this spelling, or undefined. */
  readonly specialTokenId: (spelling: string) => number | undefined;
  /** The spellings of all special tokens: those that a template could give a meaning to. */
  readonly specialTokens: readonly string[];
  readonly specialTokenIds: readonly number[];
}

/** Tokens as an answer reports them. Each is made once. */
export function describeWith(vocabulary: Vocabulary): (token: number) => OutputToken {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const known: (OutputToken | undefined)[] = [];
  return (id) => {
    const made = known[id];
    if (made) return made;
    const bytes = vocabulary.bytesOf(id);
    const token = bytes.length === 0 ? vocabulary.spellingOf(id) : decoder.decode(Uint8Array.from(bytes));
    return (known[id] = { id, token, bytes });
  };
}
