/** Combines the signal of the caller with one timer of our own. */
export interface Cancellation {
  readonly signal: AbortSignal;
  /** Restarts the timer: the signal aborts after `ms`, unless the timer is stopped first. */
  readonly start: (ms: number, reason: () => unknown) => void;
  readonly stop: () => void;
  readonly abort: (reason?: unknown) => void;
  /** Stops the timer and detaches from the caller's signal, which may outlive the call. */
  readonly release: () => void;
}

/** The longest delay of a JavaScript timer. A timer with a longer delay would fire at once. */
const longestMs = 2 ** 31 - 1;

export function openCancellation(outer: AbortSignal | undefined): Cancellation {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason?: unknown): void => controller.abort(reason);
  const follow = (): void => abort(outer?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  if (outer?.aborted) follow();
  outer?.addEventListener("abort", follow);
  return {
    signal,
    start: (ms, reason) => {
      stop();
      if (ms <= longestMs) timer = setTimeout(() => abort(reason()), ms);
    },
    stop,
    abort,
    release: () => {
      stop();
      outer?.removeEventListener("abort", follow);
    },
  };
}

/** Waits for the work. @throws the reason of the signal as soon as it aborts, even if the work ignores the signal */
export function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    // eslint-disable-next-line prefer-promise-reject-errors -- whatever the caller gave to abort()
    const stop = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    void work()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", stop));
  });
}
