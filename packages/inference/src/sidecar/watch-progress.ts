import { setTimeout as wait } from "node:timers/promises";
import { shortageOf } from "./shortage.ts";
import type { EngineStatus } from "./status.ts";
import type { Supervised } from "./supervised.ts";
import type { Timings } from "./timings.ts";

/** How it was seen that an engine is frozen. */
export interface Freeze {
  readonly why: string;
  /** Time passed without progress. Otherwise the engine refused at once, as one does that is just ending. */
  readonly isStall: boolean;
}

/**
 * Watches a ready engine until it is to be watched no longer (undefined), or until it is frozen: it does not answer, or
 * it evaluates something and no token comes of it. Resolves with how that was seen. If our own process has no descriptor or memory to
 * ask with, that says nothing about the engine. It measures with a monotonic clock, because a step of the wall clock would end a
 * healthy engine.
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
      // With EAGAIN the engine may have stopped accepting connections.
      const isLate = performance.now() - answeredAt > unansweredMs;
      if (shortage !== undefined && !(shortage === "EAGAIN" && isLate)) continue;
      return { why: `no answer within ${unansweredMs} ms (${String(failure)})`, isStall: deadline.aborted || isLate };
    }
    answeredAt = performance.now();
    // What computes nothing may be waiting for a reader, however long.
    if (status.computing === 0 || status.progress !== progress) movedAt = performance.now();
    progress = status.progress;
    if (performance.now() - movedAt > stallMs) {
      return { why: `no token for ${stallMs} ms with work under way`, isStall: true };
    }
  }
}

/**
 * Resolves when the engine has produced one token, or rejects with how that failed. As long as our own process has no descriptor or
 * memory to ask with, it is asked again, unless `mayRetry` says no.
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
      // With EAGAIN the engine accepts no connections.
      if (shortage === undefined || shortage === "EAGAIN" || !mayRetry()) throw error;
      await wait(timings.watchEveryMs, undefined, { ref: false });
    }
  }
}
