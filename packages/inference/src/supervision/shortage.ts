const codes: ReadonlySet<unknown> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOBUFS",
  "EAGAIN",
  // A thread could not be started.
  "ERR_WORKER_INIT_FAILED",
]);

/**
 * Returns the code with which the system refused our own process a descriptor, memory, a process or a thread, otherwise
 * undefined. Such a shortage is temporary and does not mean that an engine failed. `EAGAIN` of a connection may also mean that
 * the engine accepts no connections at the moment.
 */
export function shortageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && codes.has(error.code)) return error.code;
  return shortageOf(error.cause);
}

/** Checks if the system refused our own process a resource. */
export const isShortage = (error: unknown): boolean => shortageOf(error) !== undefined;
