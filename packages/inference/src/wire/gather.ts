import type { Readable } from "node:stream";

/** Milliseconds for which the bytes of an answer may stay where they arrive. */
export const gatherMs = 50;

/**
 * Reads the first bytes at once, and from then on what came in 50 ms. It waits no longer when the stream ends, fails, or has no room
 * for more. Decoding the bytes of each token apart costs several times as much. What came before a failure is passed on
 * first. Leaving the loop does not end the stream.
 */
export async function* gather(body: Readable): AsyncGenerator<Buffer> {
  let isDue = false;
  let isOver = false;
  let failure: unknown;
  let timer: NodeJS.Timeout | undefined;
  let wake = (): void => undefined;
  const becomeDue = (): void => {
    isDue = true;
    wake();
  };
  const endWith = (error?: unknown): void => {
    isOver = true;
    failure ??= error;
    becomeDue();
  };
  let seen: number | undefined;
  const look = (): void => {
    const { readableLength: length, readableHighWaterMark: most } = body;
    // The end is announced like bytes, and brings none.
    if (seen === undefined || length === seen || length >= most) becomeDue();
    seen = length;
    timer ??= setTimeout(becomeDue, gatherMs);
  };
  body.on("readable", look).on("end", endWith).on("error", endWith).on("close", endWith);
  try {
    for (;;) {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      clearTimeout(timer);
      timer = undefined;
      isDue = isOver;
      // The whole buffer, as the stream has no encoding.
      const bytes = body.read() as Buffer | null;
      seen = 0;
      if (bytes !== null) yield bytes;
      else if (isOver) break;
    }
    if (failure !== undefined) throw failure;
  } finally {
    clearTimeout(timer);
    // The listener of errors stays: without one, a connection that is cut later would end the process.
    body.off("readable", look).off("end", endWith).off("close", endWith);
  }
}
