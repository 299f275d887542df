import { EngineError } from "../engine.ts";

/** Turns a crash into a stall if the process was killed for lack of progress: killing it breaks its connections. */
export function asStall(error: unknown, isStalled: boolean): unknown {
  if (!isStalled || !(error instanceof EngineError) || error.kind !== "crashed") return error;
  return new EngineError("stalled", "the engine made no progress in time", { cause: error });
}
