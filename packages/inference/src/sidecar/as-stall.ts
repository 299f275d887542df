import { EngineError } from "../engine.ts";

/** A process that makes no progress is killed, which breaks its connections: what that fails with has stalled, not crashed. */
export function asStall(error: unknown, isStalled: boolean): unknown {
  if (!isStalled || !(error instanceof EngineError) || error.kind !== "crashed") return error;
  return new EngineError("stalled", "the engine made no progress in time", { cause: error });
}
