import { combineChoices, eventMaker } from "../answer/combine-choices.ts";
import type { ChoiceDelta } from "../answer/combine-choices.ts";
import type { EngineEvent } from "../engine.ts";
import type { EventBatches } from "../wire/connection.ts";
import { FailedAfterError, transform } from "../wire/transform.ts";
import { asEngineError } from "./engine-failure.ts";

/** Turns the events of an upstream into the deltas of one choice. */
export interface ChoiceReader {
  /** True when no more events are needed. */
  readonly isDone: boolean;
  /**
   * Reads events until no more are needed.
   * @param events the data of each event
   * @param deltas receives the new deltas, also those before an error
   */
  push(events: readonly string[], deltas: ChoiceDelta[]): void;
  /** Called when the stream has ended, or when no more events are needed. */
  end(deltas: ChoiceDelta[]): Promise<void> | void;
}

/** One choice that is being started: opens its answer, and reads it. */
export interface OpeningChoice {
  readonly open: () => Promise<EventBatches>;
  readonly reader: ChoiceReader;
}

export type BeginChoices = (signal: AbortSignal) => readonly OpeningChoice[];

/**
 * Starts all choices at once, and stops all of them when one fails.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export const runChoices = (
  n: number,
  signal: AbortSignal,
  begin: BeginChoices,
): AsyncGenerator<readonly EngineEvent[]> => (n === 1 ? runOne(signal, begin) : runMany(signal, begin));

/** The case of one choice: nothing to merge, and no other choice to stop. */
function runOne(signal: AbortSignal, begin: BeginChoices): AsyncGenerator<readonly EngineEvent[]> {
  const toEvents = eventMaker(1);
  const first = (): OpeningChoice => {
    const [choice] = begin(signal);
    if (!choice) throw new RangeError("an answer without choices");
    return choice;
  };
  return readChoice(signal, first, (deltas) => toEvents(0, deltas));
}

async function* runMany(signal: AbortSignal, begin: BeginChoices): AsyncGenerator<readonly EngineEvent[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let isWhole = false;
  try {
    signal.throwIfAborted();
    const choices = begin(either);
    const generators = choices.map((choice) =>
      readChoice(
        signal,
        () => choice,
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

/**
 * Passes on the events before a failure, and then throws it. When the reader needs no more, the stream is closed, which stops
 * the engine.
 */
const readChoice = <T>(
  signal: AbortSignal,
  begin: () => OpeningChoice,
  toBatch: (deltas: readonly ChoiceDelta[]) => T,
): AsyncGenerator<T> =>
  transform(async () => {
    try {
      signal.throwIfAborted();
      const { open, reader } = begin();
      const passOn = (deltas: readonly ChoiceDelta[]): T | undefined =>
        deltas.length > 0 ? toBatch(deltas) : undefined;
      return {
        source: await open(),
        transform: (events) => {
          const deltas: ChoiceDelta[] = [];
          try {
            reader.push(events, deltas);
          } catch (error) {
            throw new FailedAfterError(passOn(deltas), error);
          }
          return passOn(deltas);
        },
        isDone: () => reader.isDone,
        flush: async () => {
          const deltas: ChoiceDelta[] = [];
          await reader.end(deltas);
          return passOn(deltas);
        },
        explain: (error) => explain(error, signal),
      };
    } catch (error) {
      throw explain(error, signal);
    }
  });

const explain = (error: unknown, signal: AbortSignal): unknown =>
  signal.aborted ? signal.reason : asEngineError(error);
