import { combineChoices, eventMaker } from "../answer/combine-choices.ts";
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

export type BeginChoices = (signal: AbortSignal) => Promise<readonly OpeningChoice[]>;

/**
 * Starts all choices at once, and stops all of them when one fails.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export const runChoices = (
  n: number,
  signal: AbortSignal,
  begin: BeginChoices,
): AsyncGenerator<readonly EngineEvent[]> => (n === 1 ? runOne(signal, begin) : runMany(signal, begin));

/** Nothing to merge, and no other to stop: one loop from the bytes to the events. */
function runOne(signal: AbortSignal, begin: BeginChoices): AsyncGenerator<readonly EngineEvent[]> {
  const toEvents = eventMaker(1);
  const first = async (): Promise<OpeningChoice | undefined> => (await begin(signal))[0];
  return readChoice(signal, first, (deltas) => toEvents(0, deltas));
}

async function* runMany(signal: AbortSignal, begin: BeginChoices): AsyncGenerator<readonly EngineEvent[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let isWhole = false;
  try {
    signal.throwIfAborted();
    const choices = await begin(either);
    const generators = choices.map((choice) =>
      readChoice(
        signal,
        async () => choice,
        (deltas) => deltas,
      ),
    );
    yield* combineChoices(generators, () => stop.abort());
    isWhole = true;
  } catch (error) {
    throw explain(error, signal);
  } finally {
    if (!isWhole) stop.abort();
  }
}

/** What came before a failure is passed on first. */
async function* readChoice<T>(
  signal: AbortSignal,
  begin: () => Promise<OpeningChoice | undefined>,
  toBatch: (deltas: readonly ChoiceDelta[]) => T,
): AsyncGenerator<T> {
  try {
    signal.throwIfAborted();
    const choice = await begin();
    if (!choice) return;
    const { open, reader } = choice;
    for await (const events of await open()) {
      const deltas: ChoiceDelta[] = [];
      try {
        for (const data of events) if (!reader.isDone) reader.push(data, deltas);
      } finally {
        if (deltas.length > 0) yield toBatch(deltas);
      }
      // Leaving the stream stops the engine.
      if (reader.isDone) break;
    }
    const deltas: ChoiceDelta[] = [];
    await reader.end(deltas);
    if (deltas.length > 0) yield toBatch(deltas);
  } catch (error) {
    throw explain(error, signal);
  }
}

const explain = (error: unknown, signal: AbortSignal): unknown =>
  signal.aborted ? signal.reason : asEngineError(error);
