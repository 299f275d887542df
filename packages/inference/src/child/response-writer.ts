import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** Writes the bytes of one generation to the driver, no faster than the driver reads. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #isSplit = false;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  async write(text: string): Promise<void> {
    if (!this.#response.headersSent) this.#response.writeHead(200, { "content-type": "application/x-ndjson" });
    const bytes = Buffer.from(text);
    const parts = this.#isSplit ? Array.from(bytes, (byte) => Buffer.of(byte)) : [bytes];
    for (const part of parts) {
      if (!this.#response.write(part)) await once(this.#response, "drain", { signal: this.#signal });
    }
  }

  /** From here on every byte is written separately. */
  split(): void {
    this.#isSplit = true;
  }

  /** Breaks the connection. */
  reset(): void {
    this.#response.destroy();
  }
}
