import { openCancellation } from "./cancellation.ts";
import type { Cancellation } from "./cancellation.ts";
import { IncompleteStreamError, MalformedResponseError, TimeoutError } from "./errors.ts";
import type { ErrorFacts, ParleyError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Settings } from "./options.ts";
import { readStreamError } from "./read-error.ts";
import { request } from "./request.ts";
import type { Answer } from "./request.ts";
import type { ChatCompletionChunk, StreamEvent } from "./types.ts";

export type Body = ReadableStream<Uint8Array> | null;
type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

/** The part of a stream that has been read so far. */
export interface Progress {
  readonly chunks: ChatCompletionChunk[];
  answer: Answer<Body> | undefined;
  /** True once `[DONE]` has arrived. */
  isWhole: boolean;
}

/**
 * Yields the chunks of a stream: bytes → lines → events → chunks. The request is sent when the first chunk is read. Leaving
 * the loop in any way cancels it.
 */
export async function* streamChunks(
  operation: Operation<Body>,
  settings: Settings,
  progress: Progress,
): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  const cancellation = openCancellation(settings.signal);
  const { chunks } = progress;
  let reader: ByteReader | undefined;
  try {
    const { data, response, requestId } = (progress.answer = await request(operation, settings, cancellation));
    const facts: ErrorFacts = { requestId, chunks };
    reader = openBody(data, response, facts);
    const bytes = readBytes(reader, settings.idleTimeoutMs, cancellation, facts);
    for await (const data of decodeEvents(decodeLines(bytes))) {
      progress.isWhole = data === "[DONE]";
      if (progress.isWhole) return;
      const chunk = readChunk(data, response, facts);
      chunks.push(chunk);
      yield chunk;
    }
    throw brokenOff(facts);
  } finally {
    cancellation.release();
    if (reader && progress.isWhole) void drain(reader, cancellation);
    else close(reader, cancellation);
  }
}

/** Yields the bytes as they arrive. The time that the consumer takes between two pieces does not count as silence. */
async function* readBytes(
  reader: ByteReader,
  idleTimeoutMs: number,
  { start, stop, signal }: Cancellation,
  facts: ErrorFacts,
): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    start(idleTimeoutMs, () => new TimeoutError(`The stream was silent for ${idleTimeoutMs} milliseconds.`, facts));
    const { done, value } = await reader.read().catch((cause: unknown) => {
      signal.throwIfAborted();
      throw brokenOff({ ...facts, cause });
    });
    stop();
    if (done) return;
    yield value;
  }
}

/**
 * Yields the lines of a UTF-8 text that arrives in pieces, cut anywhere. A line ends with CR, LF or CRLF and is yielded as
 * soon as its end arrives: after a CR it is yielded at once, and an LF that comes next belongs to that CR. Text after the
 * last line end is dropped, and so is a byte order mark at the beginning.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export async function* decodeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let isAfterCr = false;
  for await (const piece of pieces) {
    let text = decoder.decode(piece, { stream: true });
    if (text === "") continue; // an empty piece, or a part of a character
    if (isAfterCr && text.startsWith("\n")) text = text.slice(1);
    isAfterCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/**
 * Yields the data of each server-sent event. Skipped are other fields (name, id, retry time, unknown ones), comments, events
 * without data, and a last event without an empty line after it.
 */
export async function* decodeEvents(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let data: string[] = [];
  for await (const line of lines) {
    const [isData, value = ""] = /^data(?:: ?([^]*))?$/.exec(line) ?? [];
    if (isData !== undefined) data.push(value);
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
}

const brokenOff = (facts: ErrorFacts): ParleyError =>
  new IncompleteStreamError("The stream ended without its [DONE].", facts);

function openBody(body: Body, response: Response, facts: ErrorFacts): ByteReader {
  const mediaType = response.headers.get("content-type") ?? "nothing";
  if (body && /^text\/event-stream\b/i.test(mediaType)) return body.getReader();
  throw new MalformedResponseError(`The answer is ${mediaType} instead of a stream of events.`, facts);
}

/** @throws {APIError} when the event is the error that ends the stream */
function readChunk(data: string, response: Response, facts: ErrorFacts): ChatCompletionChunk {
  const event = parseEvent(data, facts);
  if (event && "error" in event) throw readStreamError(response, event, facts.chunks ?? []);
  if (!Array.isArray(event?.choices)) throw new MalformedResponseError("An event of the stream is not a chunk.", facts);
  return event;
}

/** Returns the event, or null for JSON that is not an object. Its members are not validated: callers check those they use. */
function parseEvent(data: string, facts: ErrorFacts): StreamEvent | null {
  try {
    const event: unknown = JSON.parse(data);
    return typeof event === "object" ? (event as StreamEvent | null) : null;
  } catch (cause) {
    throw new MalformedResponseError("An event of the stream is not JSON.", { ...facts, cause });
  }
}

/** Reads what follows `[DONE]`, for a second at most, so that the connection can be reused. */
async function drain(reader: ByteReader, cancellation: Cancellation): Promise<void> {
  cancellation.start(1000, () => undefined);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete, so an error of its connection no longer matters.
  } finally {
    cancellation.stop();
  }
}

function close(reader: ByteReader | undefined, cancellation: Cancellation): void {
  cancellation.abort();
  reader?.cancel().catch(() => undefined); // for a `fetch` that ignores its signal
}
