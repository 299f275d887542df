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
