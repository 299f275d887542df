import type { Delivery } from "../engine.ts";
import type { EventBatches } from "../wire/connection.ts";

/** The target of generations: one engine, or a pool of several. */
export interface Upstream {
  /** Resolves when the answer to a POST begins. It must be read then; leaving the loop stops the engine. */
  open(path: string, body: string, signal: AbortSignal, delivery: Delivery): Promise<EventBatches>;
  /** Reads a whole answer. */
  read(path: string, signal: AbortSignal, body?: string): Promise<string>;
  /** The number of endpoints that get no requests because they failed. */
  readonly ejected: number;
  close(): Promise<void>;
}
