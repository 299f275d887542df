import type { ServerResponse } from "node:http";
import { settlesWithin } from "@parley/common/settles-within";
import { ApiError, internalError } from "../../errors/api-error.ts";
import { catalog } from "../../errors/catalog.ts";
import { HangUpError } from "../../errors/hang-up.ts";
import { escapeLineEnds } from "../../http/escape-line-ends.ts";
import type { ChunkText } from "./chunk-text.ts";
import { EventSink } from "./event-sink.ts";
import type { SinkTimings } from "./event-sink.ts";
import type { AnswerBatch } from "./relay-answer.ts";

export interface StreamTimings extends SinkTimings {
  /** Milliseconds to wait for the first event. Then the status line is sent without it. */
  readonly firstEventMs: number;
}

export interface StreamOptions {
  readonly text: ChunkText;
  readonly timings: StreamTimings;
  readonly requestId: string;
  /** Aborts when the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  /** Called with a function that returns true while no events wait in this process for the reader. */
  readonly onSink: (isAllSent: () => boolean) => void;
  /** Receives the events as they are sent, to keep them; undefined: they are not kept. */
  readonly recording?: EventRecording | undefined;
  /** Called with a failure that can no longer become an HTTP error. */
  readonly onBroken: (error: unknown) => void;
}

/** Records the events of a stream. */
export interface EventRecording {
  add(events: string): void;
  /** Keeps the events as a whole answer. Never rejects. */
  keepStream(): Promise<void>;
}

const done = "data: [DONE]\n\n";

/**
 * Writes an answer as an event stream, in the order that the contract's state machine demands. A failure before the status
 * line is thrown, and becomes an HTTP error. A later failure becomes the last event, or closes the connection if the client
 * has disconnected.
 * @throws every error of the answer before the status line is sent
 */
export async function writeEvents(
  response: ServerResponse,
  batches: AsyncGenerator<AnswerBatch>,
  { text, timings, requestId, signal, onSink, recording, onBroken }: StreamOptions,
): Promise<void> {
  const first = batches.next();
  const isThere = await settlesWithin(first, timings.firstEventMs);
  using sink = new EventSink(response, timings, signal);
  onSink(() => sink.isAllSent);
  if (!isThere) sink.sendHead();
  try {
    for (let result = await first; !result.done; result = await batches.next()) {
      const events = text.of(result.value);
      recording?.add(escapeLineEnds(events));
      const isFull = events === "" ? undefined : sink.write(events);
      if (isFull) await isFull;
    }
    if (recording) {
      recording.add(done);
      // Kept before its last event, so a caller that has received a whole answer never pays for another one.
      await recording.keepStream();
      signal.throwIfAborted();
    }
    sink.end(done);
  } catch (error) {
    onBroken(error);
    if (error instanceof HangUpError || response.destroyed) response.destroy();
    else sink.end(`data: ${JSON.stringify(asStreamError(error).toBody(requestId))}\n\n`);
  } finally {
    await batches.return(undefined);
  }
}

/** Returns the error for the last event. Only some codes can end a stream; all others become an internal error. */
const asStreamError = (error: unknown): ApiError =>
  error instanceof ApiError && catalog[error.code].in_stream ? error : internalError(error);
