import { EngineError, FailedAfter, transform } from "@parley/inference";
import type { EngineEvent, EngineUsage } from "@parley/inference";
import type { Meter } from "../metering/meter.ts";
import { joinTexts } from "./join-texts.ts";
import type { ChunkChoice, ChunkMaker } from "./to-chunks.ts";

/** What one batch of an engine's events adds to an answer; the last one brings the usage alone. */
export interface AnswerBatch {
  readonly choices: readonly ChunkChoice[];
  readonly usage?: EngineUsage;
}

export interface RelayOptions {
  readonly meter: Meter;
  readonly chunks: ChunkMaker;
  /** The answer is not streamed, so texts that arrive together are handled as one. */
  readonly isCollected: boolean;
  /** An error in the words of the service. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * What an answer passes through: each event is counted, checked and made a part of a chunk. At the end the meter is told how the
 * answer ended, unless its reader leaves. What came before a failure is passed on first.
 * @throws what the engine throws, and {EngineError} `protocol` for events that the contract does not allow, both explained
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
          meter.count(event.usage);
          chunks.push(event, choices);
          if (event.kind === "finish") meter.endChoice();
        }
      } catch (error) {
        throw new FailedAfter(asBatch(choices), error);
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
