import { setTimeout as wait } from "node:timers/promises";
import { shortageOf } from "./shortage.ts";
import type { EngineStatus } from "./status.ts";
import type { Supervised } from "./supervised.ts";
import type { Timings } from "./timings.ts";

/** The way in which a frozen or ending engine was detected. */
export interface Freeze {
  /** A sentence for the log. */
  readonly why: string;
  /** True: time passed without progress. False: the engine refused at once, as an engine that is about to exit does. */
  readonly isStall: boolean;
}

/**
 * Watches a ready engine until watching ends (resolves with undefined) or the engine is frozen: it does not answer, or it
 * evaluates without producing a token. Then it resolves with the way in which that was detected. A lack of descriptors or
 * memory in our own process does not count against the engine. Time is measured with a monotonic clock, because a step of the
 * wall clock would end a healthy engine.
 */
export async function watchProgress(
  ask: (signal: AbortSignal) => Promise<EngineStatus>,
  { watchEveryMs, unansweredMs, stallMs }: Timings,
  isWatched: () => boolean,
): Promise<Freeze | undefined> {
  let progress = -1;
  let movedAt = performance.now();
  let answeredAt = performance.now();
  for (;;) {
    await wait(watchEveryMs, undefined, { ref: false });
    if (!isWatched()) return undefined;
    const deadline = AbortSignal.timeout(unansweredMs);
    const status = await ask(deadline).catch((failure: unknown) => ({ failure }));
    if (!isWatched()) return undefined;
    if ("failure" in status) {
      const { failure } = status;
      const shortage = shortageOf(failure);
      // `EAGAIN` can mean that the engine has stopped accepting connections.
      const isLate = performance.now() - answeredAt > unansweredMs;
      if (shortage !== undefined && !(shortage === "EAGAIN" && isLate)) continue;
      const isStall = deadline.aborted || isLate;
      const how = isStall ? `is frozen: no answer within ${unansweredMs} ms` : "refused to answer";
      return { why: `the engine ${how} (${String(failure)})`, isStall };
    }
    answeredAt = performance.now();
    // An engine that evaluates nothing may be waiting for a reader, for any length of time.
    if (status.computing === 0 || status.progress !== progress) movedAt = performance.now();
    progress = status.progress;
    if (performance.now() - movedAt > stallMs) {
      return { why: `the engine is frozen: no token for ${stallMs} ms although it has work`, isStall: true };
    }
  }
}

/**
 * Resolves when the engine has produced one token, and rejects with the error otherwise. While our own process lacks
 * descriptors or memory, the request is repeated, unless `mayRetry` returns false.
 */
export async function probeToken(
  { probe, timings }: Pick<Supervised, "probe" | "timings">,
  mayRetry: () => boolean,
): Promise<void> {
  for (;;) {
    try {
      return await probe(AbortSignal.timeout(timings.startSilenceMs));
    } catch (error) {
      const shortage = shortageOf(error);
      // `EAGAIN` means that the engine accepts no connections.
      if (shortage === undefined || shortage === "EAGAIN" || !mayRetry()) throw error;
      await wait(timings.watchEveryMs, undefined, { ref: false });
    }
  }
}
