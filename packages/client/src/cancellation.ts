/** One signal out of the caller's and one clock of our own. */
export interface Cancellation {
  readonly signal: AbortSignal;
  /** Starts the clock anew: the signal aborts in so many milliseconds, unless the clock is stopped before. */
  readonly start: (ms: number, reason: () => unknown) => void;
  readonly stop: () => void;
  readonly abort: (reason?: unknown) => void;
  /** Lets go of the clock and of the caller's signal, which may live longer than we do. */
  readonly release: () => void;
}

/** Clocks of JavaScript cannot run longer; asked to, they ring at once. */
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
