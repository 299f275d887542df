import type { Transcript } from "./transcript.ts";

/** How a clause judges one stream. */
export interface Rule {
  readonly clause: string;
  readonly how: string;
  readonly faultOf: (stream: Transcript) => string | undefined;
  /** Whether the stream is evidence for the clause. */
  readonly shows: (stream: Transcript) => boolean;
  /** The same for what mainstream SDKs need. */
  readonly interop?: (stream: Transcript) => string | undefined;
}
