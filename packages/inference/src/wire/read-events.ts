import { createParser } from "eventsource-parser";

/** The data of every server-sent event in a byte stream, however the bytes are cut; comments are skipped. */
export async function* readEvents(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void ready.push(data) });
  for await (const bytes of source) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    const events = ready;
    ready = [];
    yield* events;
  }
}
