import { EngineError } from "@parley/inference";
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
 * The one loop that an answer passes through: each event is counted, checked and made a part of a chunk. At the end the
 * meter is told how the answer ended, unless its reader leaves.
 * @throws what the engine throws, and {EngineError} `protocol` for events that the contract does not allow, both explained
 */
export async function* relayAnswer(
  events: AsyncIterable<readonly EngineEvent[]>,
  { meter, chunks, isCollected, explain }: RelayOptions,
): AsyncGenerator<AnswerBatch> {
  try {
    for await (const batch of events) {
      const choices: ChunkChoice[] = [];
      try {
        for (const event of isCollected ? joinTexts(batch) : batch) {
          meter.count(event.usage);
          chunks.push(event, choices);
          if (event.kind === "finish") meter.endChoice();
        }
      } finally {
        // What came before a failure is passed on first.
        if (choices.length > 0) yield { choices };
      }
    }
    chunks.end();
    if (!meter.usage) throw new EngineError("protocol", "the engine sent nothing");
    yield { choices: [], usage: meter.usage };
    meter.complete();
  } catch (error) {
    const shown = explain(error);
    meter.fail(shown);
    throw shown;
  }
}
