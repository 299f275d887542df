import type { Delivery } from "../engine.ts";
import type { EventBatches } from "../wire/connection.ts";

/** Where generations are sent: one engine, or one of several. */
export interface Upstream {
  /** Resolves when an answer to a POST begins, and has to be read then; leaving the loop stops the engine. */
  open(path: string, body: string, signal: AbortSignal, delivery: Delivery): Promise<EventBatches>;
  /** A whole answer. */
  read(path: string, signal: AbortSignal, body?: string): Promise<string>;
  /** Endpoints that get no requests, because they failed. */
  readonly ejected: number;
  close(): Promise<void>;
}
