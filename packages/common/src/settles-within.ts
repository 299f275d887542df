/**
 * Waits for a promise, for at most `maxMs` milliseconds.
 * @returns true if the promise was fulfilled in time, false if the time is over
 * @throws the reason of the promise, if it is rejected in time. A later rejection is ignored.
 */
export async function settlesWithin(promise: Promise<unknown>, maxMs: number): Promise<boolean> {
  const timeIsOver = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeIsOver.resolve(false), maxMs);
  try {
    return await Promise.race([promise.then(() => true), timeIsOver.promise]);
  } finally {
    clearTimeout(timer);
  }
}
