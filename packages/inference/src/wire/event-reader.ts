import { createParser } from "eventsource-parser";
import type { ParseError } from "eventsource-parser";
import { EngineError } from "../engine.ts";

const lineFeed = 0x0a;

/** The maximum length of one event in characters, longer than a whole answer with all log-probabilities. */
const maxCharacters = 16 * 2 ** 20;

/** Reads the data of server-sent events from a byte stream that may be split anywhere. Comments are skipped. */
export class EventReader {
  /** The parser for everything that `takeSimpleEvents` does not read. Most streams never need it. */
  #parser: Parser | undefined;
  /** True if the bytes so far end between two events. */
  #isBetween = true;
  #isBegun = false;

  /** @returns the events that end in these bytes @throws {EngineError} `protocol` for an event that is too long */
  push(bytes: Buffer): readonly string[] {
    const events: string[] = [];
    const isBetween = bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed;
    if (this.#isBetween && isBetween) {
      // The bytes end with a whole line, so no character is split.
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
 * Takes events from the start of a text, as long as they have the form that engines use: one line of data and an empty line.
 * The parser would find the same events, but takes longer.
 * @returns the number of characters read
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

/** Other errors are fields of another name, which the format allows. */
function refuseLongEvent({ type }: ParseError): void {
  if (type === "max-buffer-size-exceeded")
    throw new EngineError("protocol", "the engine wrote an event without an end");
}

class Parser {
  /** The parser must skip the byte order mark. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #parser = createParser({
    onEvent: ({ data }) => void this.#events.push(data),
    onError: refuseLongEvent,
    maxBufferSize: maxCharacters,
  });
  #events: string[] = [];

  /** @param isBegun true if the stream has begun, so that a byte order mark can no longer appear */
  constructor(isBegun: boolean) {
    if (isBegun) this.#parser.feed("\n");
  }

  feedBytes(bytes: Buffer, events: string[]): void {
    this.feed(this.#decoder.decode(bytes, { stream: true }), events);
  }

  feed(text: string, events: string[]): void {
    this.#events = events;
    this.#parser.feed(text);
    // Not kept until the next bytes arrive, because the objects would leave the young generation of the garbage collector.
    this.#events = [];
  }
}
