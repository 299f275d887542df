import { EngineError } from "@parley/inference";
import type { EngineEvent, EngineUsage } from "@parley/inference";
import type { RequestRecord } from "../observe/request-record.ts";

/** A running request that is told what it uses and how it ends. */
export interface Metered {
  /** Replaces the counts: `usage` is everything used so far. */
  count(usage: EngineUsage): void;
  /** The answer is whole. */
  complete(): void;
  /** The request ends with this error. A `HangUp` is the client's doing and no failure. */
  fail(error: unknown): void;
}

/**
 * Passes an engine's events on, untouched, and counts what they report as used.
 * @throws {EngineError} `protocol` for counts that could not be charged
 */
export async function* meter(
  events: AsyncIterable<EngineEvent>,
  running: Metered,
  record: RequestRecord,
  nowMs: () => number,
): AsyncGenerator<EngineEvent> {
  for await (const event of events) {
    record.firstEventMs ??= nowMs() - record.startedAtMs;
    assertCounts(event.usage);
    running.count(event.usage);
    yield event;
  }
}

function assertCounts(usage: EngineUsage): void {
  const { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens } = usage;
  for (const count of [prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new EngineError("protocol", "the engine has lost count");
  }
}

/**
 * Passes an answer on and reports how it ended: complete or with an error. Nothing is reported when its reader leaves.
 * @throws what the answer throws, in the words of the service
 */
export async function* settle<T>(
  answer: AsyncIterable<T>,
  running: Metered,
  explain: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* answer;
    running.complete();
  } catch (error) {
    const shown = explain(error);
    running.fail(shown);
    throw shown;
  }
}
