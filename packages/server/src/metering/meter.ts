import { EngineError } from "@parley/inference";
import type { EngineEvent, EngineUsage } from "@parley/inference";
import type { Lease } from "../limits/lease.ts";
import type { RequestRecord } from "../observe/request-record.ts";

/**
 * Passes an engine's events on, untouched, and writes down what they say was used.
 * @throws {EngineError} `protocol` for counts that could not be charged
 */
export async function* meter(
  events: AsyncIterable<EngineEvent>,
  lease: Lease,
  record: RequestRecord,
  nowMs: () => number,
): AsyncGenerator<EngineEvent> {
  for await (const event of events) {
    record.firstEventMs ??= nowMs() - record.startedAtMs;
    assertCounts(event.usage);
    lease.count(event.usage);
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
 * Passes an answer on and remembers how it ended: whole, with an error, or, when nobody asks any further, cut.
 * @throws what the answer throws, in the words of the service
 */
export async function* settle<T>(
  answer: AsyncIterable<T>,
  lease: Lease,
  explain: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* answer;
    lease.complete();
  } catch (error) {
    const shown = explain(error);
    lease.fail(shown);
    throw shown;
  }
}
