/** Answers that arrive within this many milliseconds of a round of the event loop are read at once. */
const roundMs = 50;
/** Later answers wait. Each of the next rounds reads this many of them. */
const maxLate = 16;

let startedMs: number | undefined;
const late: (() => void)[] = [];

/**
 * Reads an answer whose bytes have arrived. It does so at once, or in a later round of the event loop if this one has lasted
 * long. Without this, libuv would go on reading while 1,024 connections have something to read. Meanwhile no connection would
 * be accepted, and no disconnect noticed.
 */
export function readInTurn(read: () => void): void {
  if (startedMs === undefined) {
    startedMs = performance.now();
    setImmediate(endRound);
  }
  if (performance.now() - startedMs < roundMs) read();
  else late.push(read);
}

function endRound(): void {
  startedMs = undefined;
  const due = late.splice(0, maxLate);
  for (const read of due) read();
  if (late.length === 0) return;
  startedMs = performance.now();
  setImmediate(endRound);
}
