import type { Transcript } from "./transcript.ts";

/** What a clause says of one stream: what is wrong with it, undefined where nothing is. */
export interface Rule {
  readonly clause: string;
  readonly how: string;
  readonly faultOf: (stream: Transcript) => string | undefined;
  /** Whether a stream can show that the clause is kept. */
  readonly shows: (stream: Transcript) => boolean;
  /** The same for what mainstream SDKs need. */
  readonly interop?: (stream: Transcript) => string | undefined;
}
