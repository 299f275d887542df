import type { OutputToken } from "../engine.ts";
import type { ByteCounts } from "./fewest-tokens.ts";

/** The meaning of token ids. */
export interface Vocabulary {
  readonly size: number;
  /** Returns the raw bytes that a token writes: none for a special token that is not text. */
  bytesOf(token: number): readonly number[];
  /** Returns the maximum number of bytes of each kind that one token stands for. It reads the whole vocabulary. */
  maxBytes(): ByteCounts;
  /** Returns the spelling of any token, special ones included. */
  spellingOf(token: number): string;
  /** Returns the id of the special token (such as `<tool_call>`) with exactly this spelling, or undefined. */
  readonly specialTokenId: (spelling: string) => number | undefined;
  /** The spellings of all special tokens, to which a template could give a meaning. */
  readonly specialTokens: readonly string[];
  readonly specialTokenIds: readonly number[];
}

/** Returns a function that describes tokens as an answer reports them. Each description is created once. */
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
