import { createParser } from "eventsource-parser";

const lineFeed = 0x0a;

/** Takes the data of server-sent events out of a byte stream, however the bytes are cut; comments are skipped. */
export class EventReader {
  /** Reads everything that `takeSimpleEvents` does not. Most streams never need it. */
  #parser: Parser | undefined;
  /** The bytes so far end between two events. */
  #isBetween = true;
  #isBegun = false;

  /** @returns the events that end in these bytes */
  push(bytes: Buffer): readonly string[] {
    const events: string[] = [];
    const isBetween = bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed;
    if (this.#isBetween && isBetween) {
      // No character and no line is cut.
      const text = bytes.toString();
      const read = takeSimpleEvents(text, events);
      this.#isBegun ||= read > 0;
      if (read < text.length) this.#openParser().feed(text.slice(read), events);
    } else this.#openParser().feedBytes(bytes, events);
    this.#isBetween = isBetween;
    return events;
  }

  #openParser(): Parser {
    this.#parser ??= new Parser(this.#isBegun);
    return this.#parser;
  }
}

const field = "data: ";

/**
 * Takes events from the start of a text, as long as they have the form that engines use: one line of data and an empty line. The parser
 * would find the same events, but takes longer.
 * @returns how many characters were read
 */
function takeSimpleEvents(text: string, events: string[]): number {
  // A carriage return ends a line, too.
  if (text.includes("\r")) return 0;
  let start = 0;
  while (text.startsWith(field, start)) {
    const end = text.indexOf("\n", start);
    if (text.charCodeAt(end + 1) !== lineFeed) return start;
    events.push(text.slice(start + field.length, end));
    start = end + 2;
  }
  return start;
}

class Parser {
  /** The parser skips a byte order mark. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #parser = createParser({ onEvent: ({ data }) => void this.#events.push(data) });
  #events: string[] = [];

  /** @param isBegun whether the stream has begun, so that no byte order mark can come any more */
  constructor(isBegun: boolean) {
    if (isBegun) this.#parser.feed("\n");
  }

  feedBytes(bytes: Buffer, events: string[]): void {
    this.feed(this.#decoder.decode(bytes, { stream: true }), events);
  }

  feed(text: string, events: string[]): void {
    this.#events = events;
    this.#parser.feed(text);
    // Kept until the next bytes come, they would outlive the young objects.
    this.#events = [];
  }
}
