import type { Cancellation } from "../cancellation.ts";

export type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

export interface ReadOptions {
  readonly cancellation: Cancellation;
  /** The longest wait for a piece. Time that the consumer takes between two pieces does not count. */
  readonly idleTimeoutMs: number;
  readonly onSilence: () => Error;
  /** Makes the error to throw when the connection breaks. */
  readonly onBreak: (cause: unknown) => Error;
}

/** Yields the bytes of a body as they arrive. The caller owns the reader and has to cancel it. */
export async function* readBytes(reader: ByteReader, options: ReadOptions): AsyncGenerator<Uint8Array, void> {
  const { cancellation, idleTimeoutMs, onSilence, onBreak } = options;
  for (;;) {
    cancellation.start(idleTimeoutMs, onSilence);
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw cancellation.signal.aborted ? cancellation.signal.reason : onBreak(cause);
    });
    cancellation.stop();
    if (done) return;
    yield value;
  }
}
