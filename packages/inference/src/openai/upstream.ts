import type { Delivery } from "../engine.ts";
import type { EventBatches } from "../wire/connection.ts";
import type { Conversation } from "./conversation.ts";

export interface RoutedDelivery extends Delivery {
  /** Decides the endpoint, if there are several. */
  readonly conversation: Conversation | undefined;
}

/** The target of generations: one engine, or a pool of several. */
export interface Upstream {
  /** Resolves when the answer to a POST begins. It must be read then; leaving the loop stops the engine. */
  open(path: string, body: string, signal: AbortSignal, delivery: RoutedDelivery): Promise<EventBatches>;
  /** Reads a whole answer. */
  read(path: string, signal: AbortSignal, body?: string): Promise<string>;
  /** True if requests can be sent to different endpoints, so it matters to which conversation they belong. */
  readonly hasChoice: boolean;
  /** The number of endpoints that get no requests because they failed. */
  readonly ejected: number;
  close(): Promise<void>;
}
