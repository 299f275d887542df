import { setTimeout as wait } from "node:timers/promises";
import type { EngineStatus } from "./status.ts";
import type { Timings } from "./timings.ts";

/** How it was seen that an engine is frozen. */
export interface Freeze {
  readonly why: string;
  /** Time passed without progress. Otherwise the engine refused at once, as one does that is just ending. */
  readonly isStall: boolean;
}

/**
 * Watches a ready engine until it is to be watched no longer (undefined), or until it is frozen: it does not answer, or
 * it evaluates something and no token comes of it. Resolves with how that was seen.
 */
export async function watchProgress(
  ask: (signal: AbortSignal) => Promise<EngineStatus>,
  { watchEveryMs, unansweredMs, stallMs }: Timings,
  isWatched: () => boolean,
): Promise<Freeze | undefined> {
  let progress = -1;
  let movedAt = Date.now();
  for (;;) {
    await wait(watchEveryMs, undefined, { ref: false });
    if (!isWatched()) return undefined;
    const deadline = AbortSignal.timeout(unansweredMs);
    const status = await ask(deadline).catch((error: unknown) => String(error));
    if (!isWatched()) return undefined;
    if (typeof status === "string") {
      return { why: `no answer within ${unansweredMs} ms (${status})`, isStall: deadline.aborted };
    }
    // What computes nothing may be waiting for a reader, however long.
    if (status.computing === 0 || status.progress !== progress) movedAt = Date.now();
    progress = status.progress;
    if (Date.now() - movedAt > stallMs) {
      return { why: `no token for ${stallMs} ms with work under way`, isStall: true };
    }
  }
}
