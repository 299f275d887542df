import type { EngineRequest, RenderedRequest } from "../engine.ts";

/**
 * Returns a function that hands a value over and lets go of it. A prepared prompt keeps its tokens like this until it is
 * streamed, and not until its answer ends.
 */
export function handOver<T extends object>(value: T): () => T {
  let held: T | undefined = value;
  return () => {
    if (held === undefined) throw new Error("a prepared prompt can be streamed only once");
    const handed = held;
    held = undefined;
    return handed;
  };
}

/** Lets go of the messages of a request whose prompt is rendered. */
export function withoutMessages({ messages: _messages, shownSchema: _shown, ...rest }: EngineRequest): RenderedRequest {
  return rest;
}
