import { settlesWithin } from "@parley/common/settles-within";
import { EngineError } from "../engine.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";
import { isShortage } from "./shortage.ts";

/** An object that can check if an engine works. */
export interface Confirming {
  /** Called after a request failed as if the engine were dead. Checks if it is, and updates its state. */
  confirmFailure(): Promise<void>;
}

/** Milliseconds that a failed request waits for the result of the check. */
const patienceMs = 1000;

/**
 * Checks if an error means that the engine may be dead: it broke off, failed internally, or was not reachable. A busy engine
 * is not dead, nor is one that a shortage of our own kept us from asking.
 */
export const isBroken = (error: unknown): boolean =>
  error instanceof EngineError &&
  !isShortage(error) &&
  (error.kind === "crashed" || (error.kind === "unavailable" && !(error.cause instanceof RefusedAnswerError)));

/** Await this before reporting the failure, so that a client that reads of the failure finds the engine's state updated. */
export async function confirmFailure(failure: unknown, engine: Confirming): Promise<void> {
  if (isBroken(failure)) await settlesWithin(engine.confirmFailure(), patienceMs);
}
