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
 * The code with which the system refused our own process a descriptor, memory, a process or a thread, or undefined. Such a shortage
 * passes, and it says nothing about an engine. `EAGAIN` of a connection may also mean that the engine accepts none at the moment.
 */
export function shortageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && codes.has(error.code)) return error.code;
  return shortageOf(error.cause);
}

/** Whether our own process was refused what it needed. */
export const isShortage = (error: unknown): boolean => shortageOf(error) !== undefined;
