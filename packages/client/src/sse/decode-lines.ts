/**
 * The lines of a UTF-8 text that comes in pieces, cut anywhere. A line ends with CR, LF or CRLF, and is handed on as soon
 * as its end is there: after a CR nothing is waited for, but an LF that comes next belongs to it. What follows the last
 * line end is no line. A byte order mark at the beginning is dropped.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export async function* decodeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let isAfterCr = false;
  for await (const piece of pieces) {
    let text = decoder.decode(piece, { stream: true });
    if (text === "") continue; // nothing, or half a character
    if (isAfterCr && text.startsWith("\n")) text = text.slice(1);
    isAfterCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
