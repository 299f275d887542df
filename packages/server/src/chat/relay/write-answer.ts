import type { ServerResponse } from "node:http";
import { HangUpError } from "../../errors/hang-up.ts";
import type { CollectedAnswer } from "./collect.ts";

/**
 * Writes a whole answer, by default one in JSON, no faster than it is read, so it is in memory once.
 * @throws {HangUpError} when the reader has disconnected or read nothing for too long; the signal's reason when it aborts
 */
export async function writeAnswer(
  response: ServerResponse,
  { pieces, byteLength }: CollectedAnswer,
  options: ReaderOptions & { readonly head?: Readonly<Record<string, string>> | undefined },
): Promise<void> {
  const { head = { "content-type": "application/json; charset=utf-8", "content-length": String(byteLength) } } =
    options;
  response.writeHead(200, head);
  response.on("timeout", () => response.socket?.resetAndDestroy());
  for (const piece of pieces.slice(0, -1)) if (!response.write(piece)) await waitForReader(response, options);
  response.end(pieces.at(-1));
}

interface ReaderOptions {
  /** Milliseconds for which a reader may read nothing while data waits for it; then the response emits `timeout`. */
  readonly slowReaderMs: number;
  /** Ends a wait for the reader. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the reader has emptied the buffer of the response.
 * @throws {HangUpError} when the reader has disconnected; the signal's reason when it aborts
 */
export async function waitForReader(response: ServerResponse, { slowReaderMs, signal }: ReaderOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = (): void => reject(new HangUpError());
  // Every abort in the server has an error as its reason.
  const onAbort = (): void => reject(signal.reason as Error);
  signal.throwIfAborted();
  if (response.destroyed) throw new HangUpError();
  response.once("drain", resolve).once("close", onClose);
  signal.addEventListener("abort", onAbort);
  // This timeout of the socket restarts whenever the reader takes a byte.
  response.setTimeout(slowReaderMs);
  try {
    await promise;
  } finally {
    response.setTimeout(0);
    response.removeListener("drain", resolve).removeListener("close", onClose);
    signal.removeEventListener("abort", onAbort);
  }
}
