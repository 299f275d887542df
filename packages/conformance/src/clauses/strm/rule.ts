import type { Transcript } from "./transcript.ts";

/** The rule by which a clause judges one stream. */
export interface Rule {
  readonly clause: string;
  readonly how: string;
  readonly faultOf: (stream: Transcript) => string | undefined;
  /** Returns whether the stream is evidence for the clause. */
  readonly shows: (stream: Transcript) => boolean;
  /** The same, for the part that every OpenAI-compatible server owes. */
  readonly common?: (stream: Transcript) => string | undefined;
}
