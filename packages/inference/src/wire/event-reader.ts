import { createParser } from "eventsource-parser";

/** Takes the data of server-sent events out of a byte stream, however the bytes are cut; comments are skipped. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => void this.#complete.push(data) });
  #complete: string[] = [];

  /** @returns the events that end in these bytes */
  push(bytes: Uint8Array): readonly string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    const complete = this.#complete;
    // Kept until the next bytes come, they would outlive the young objects.
    this.#complete = [];
    return complete;
  }
}
