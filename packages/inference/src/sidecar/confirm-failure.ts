import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "../engine.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";
import { isShortage } from "./shortage.ts";

/** What knows whether an engine works. */
export interface Confirming {
  /** A request has failed as one does whose engine is dead: finds out whether it is, and says so in its state. */
  confirmFailure(): Promise<void>;
}

/** How long a failed request waits for the verdict, in milliseconds. */
const patienceMs = 1000;

/** Whether the engine itself may be dead: it broke off, failed inside, or was not there. One that is busy is not, nor is one that we could not ask. */
export const isBroken = (error: unknown): boolean =>
  error instanceof EngineError &&
  !isShortage(error) &&
  (error.kind === "crashed" || (error.kind === "unavailable" && !(error.cause instanceof RefusedAnswerError)));

/** To be awaited before the failure is told: whoever has read of it finds the engine's state changed. */
export async function confirmFailure(failure: unknown, engine: Confirming): Promise<void> {
  if (!isBroken(failure)) return;
  const over = new AbortController();
  const patience = wait(patienceMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
  await Promise.race([engine.confirmFailure(), patience]);
  over.abort();
}
