import { combineChoices } from "../answer/combine-choices.ts";
import type { ChoiceDelta } from "../answer/combine-choices.ts";
import type { EngineEvent } from "../engine.ts";
import type { EventBatches } from "../wire/connection.ts";
import { asEngineError } from "./engine-failure.ts";

/** Makes the deltas of one choice out of the events that an upstream answers with. */
export interface ChoiceReader {
  /** Nothing that follows is needed. */
  readonly isDone: boolean;
  /** @param data of one event @param deltas what the event adds is appended, also when it throws in the middle of it */
  push(data: string, deltas: ChoiceDelta[]): void;
  /** The stream has ended, or is done. */
  end(deltas: ChoiceDelta[]): Promise<void> | void;
}

/** One choice on its way: how its answer is opened, and who reads it. */
export interface OpeningChoice {
  readonly open: () => Promise<EventBatches>;
  readonly reader: ChoiceReader;
}

/**
 * Starts all choices at once, and stops all of them when one fails.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export async function* runChoices(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<readonly OpeningChoice[]>,
): AsyncGenerator<readonly EngineEvent[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let isWhole = false;
  try {
    signal.throwIfAborted();
    const choices = await begin(either);
    for await (const events of combineChoices(choices.map(readChoice), () => stop.abort())) yield events;
    isWhole = true;
  } catch (error) {
    throw signal.aborted ? signal.reason : asEngineError(error);
  } finally {
    if (!isWhole) stop.abort();
  }
}

/** What came before a failure is passed on first. */
async function* readChoice({ open, reader }: OpeningChoice): AsyncGenerator<readonly ChoiceDelta[]> {
  for await (const events of await open()) {
    const deltas: ChoiceDelta[] = [];
    try {
      for (const data of events) if (!reader.isDone) reader.push(data, deltas);
    } finally {
      if (deltas.length > 0) yield deltas;
    }
    // Leaving the stream stops the engine.
    if (reader.isDone) break;
  }
  const deltas: ChoiceDelta[] = [];
  await reader.end(deltas);
  if (deltas.length > 0) yield deltas;
}
