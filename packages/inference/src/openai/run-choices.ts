import { combineChoices } from "../answer/combine-choices.ts";
import type { EngineEvent } from "../engine.ts";
import type { ChoiceDelta } from "../answer/combine-choices.ts";
import { asEngineError } from "./engine-failure.ts";

/**
 * Starts all choices at once, and stops all of them when one fails.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export async function* runChoices(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<readonly AsyncGenerator<ChoiceDelta>[]>,
): AsyncGenerator<EngineEvent> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    signal.throwIfAborted();
    const choices = await begin(either);
    yield* combineChoices(choices, () => stop.abort());
  } catch (error) {
    throw signal.aborted ? signal.reason : asEngineError(error);
  } finally {
    stop.abort();
  }
}
