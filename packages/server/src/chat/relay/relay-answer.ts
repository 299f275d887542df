import { EngineError, FailedAfterError, transform } from "@parley/inference";
import type { EngineEvent, EngineUsage } from "@parley/inference";
import type { Meter } from "../admission/meter.ts";
import type { ChunkChoice, ChunkMaker } from "./to-chunks.ts";

/** The part of an answer that one batch of an engine's events adds. The last batch has only the usage. */
export interface AnswerBatch {
  readonly choices: readonly ChunkChoice[];
  readonly usage?: EngineUsage;
}

export interface RelayOptions {
  /** Receives the usage and the outcome of the answer. */
  readonly meter: Pick<Meter, "usage" | "count" | "endChoice" | "complete" | "fail">;
  readonly chunks: ChunkMaker;
  /** True if the answer is not streamed. Texts that arrive together are then joined. */
  readonly isCollected: boolean;
  /** Turns an error of the engine into one for the caller. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Meters and checks each event of an engine, and turns it into choices of chunks. At the end it reports the outcome to the
 * meter, unless the consumer stops reading early. Events before a failure are still passed on.
 * @throws every error of the engine, and {EngineError} `protocol` for events that the contract does not allow, both after
 * `explain`
 */
export const relayAnswer = (
  events: AsyncIterable<readonly EngineEvent[]>,
  { meter, chunks, isCollected, explain }: RelayOptions,
): AsyncGenerator<AnswerBatch> =>
  transform(() => ({
    source: events[Symbol.asyncIterator](),
    transform: (batch) => {
      const choices: ChunkChoice[] = [];
      try {
        for (const event of isCollected ? joinTexts(batch) : batch) {
          if (event.kind === "usage") meter.count(event.usage);
          else chunks.push(event, choices);
          if (event.kind === "finish") meter.endChoice();
        }
      } catch (error) {
        throw new FailedAfterError(asBatch(choices), error);
      }
      return asBatch(choices);
    },
    flush: () => {
      chunks.end();
      if (!meter.usage) throw new EngineError("protocol", "the engine sent nothing");
      return { choices: [], usage: meter.usage };
    },
    onEnd: (isWhole) => {
      if (isWhole) meter.complete();
    },
    explain: (error) => {
      const shown = explain(error);
      meter.fail(shown);
      return shown;
    },
  }));

const asBatch = (choices: readonly ChunkChoice[]): AnswerBatch | undefined =>
  choices.length > 0 ? { choices } : undefined;

type TextEvent = Extract<EngineEvent, { kind: "text" }>;

/**
 * Joins consecutive texts of a choice, and keeps only the last usage, because its counters are totals. In an answer that is
 * not streamed, the client cannot see where the texts were cut.
 */
export function joinTexts(events: readonly EngineEvent[]): readonly EngineEvent[] {
  const usage = events.findLast(({ kind }) => kind === "usage");
  const joined = usage ? [usage] : [];
  let open: TextEvent | undefined;
  for (const event of events) {
    if (event.kind === "usage") continue;
    if (event.kind !== "text" || event.tokens.length > 0) open = undefined;
    else if (open?.choice === event.choice) {
      open = { ...event, text: open.text + event.text };
      joined[joined.length - 1] = open;
      continue;
    } else open = event;
    joined.push(event);
  }
  return joined;
}
