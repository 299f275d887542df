import type { RequestOrigin } from "../engine.ts";

/** Where generations are sent: one engine, or one of several. */
export interface Upstream {
  /** The data of the server-sent events that answer a POST; leaving the loop stops the engine. */
  stream(path: string, body: string, signal: AbortSignal, origin?: RequestOrigin): AsyncIterable<string>;
  /** A whole answer. */
  read(path: string, signal: AbortSignal, body?: string): Promise<string>;
  close(): Promise<void>;
}
