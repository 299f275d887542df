import type { Cancellation } from "../cancellation.ts";

export type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

export interface ReadOptions {
  readonly cancellation: Cancellation;
  /** The longest silence. The time that the consumer takes between two pieces does not count. */
  readonly idleTimeoutMs: number;
  readonly onSilence: () => Error;
  /** Translates a connection that breaks. */
  readonly onBreak: (cause: unknown) => Error;
}

/** The bytes of a body as they come. The reader stays the caller's, who cancels it. */
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
