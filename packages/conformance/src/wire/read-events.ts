import type { BodyPiece } from "./framer.ts";

/** A server-sent event, with its lines. */
export interface StreamEvent {
  readonly atMs: number;
  readonly data: string;
  readonly dataLines: number;
  /** Fields other than `data`, such as `event` or `id`. */
  readonly otherFields: readonly string[];
}

export interface EventReading {
  readonly events: readonly StreamEvent[];
  readonly comments: readonly { readonly atMs: number; readonly text: string }[];
  /** Lines that are not a field, a comment or empty. */
  readonly oddLines: readonly string[];
  /** The text after the last empty line. */
  readonly rest: string;
  readonly isUtf8: boolean;
}

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/**
 * Parses server-sent events. The judge has its own parser, on purpose: it shares none with server and client, so a mistake in one
 * of them cannot stay hidden.
 *
 * Lines may end in LF, CR or CRLF, a space may follow `data:`, and chunks may end between any two bytes.
 */
export function readEvents(body: readonly BodyPiece[]): EventReading {
  const { lines, rest, isUtf8 } = splitLines(body);
  const events: StreamEvent[] = [];
  const comments: { atMs: number; text: string }[] = [];
  const oddLines: string[] = [];
  let data: string[] = [];
  let otherFields: string[] = [];
  for (const { atMs, text } of lines) {
    if (text === "") {
      if (data.length + otherFields.length > 0)
        events.push({ atMs, data: data.join("\n"), dataLines: data.length, otherFields });
      data = [];
      otherFields = [];
    } else if (text.startsWith(":")) comments.push({ atMs, text });
    else if (text.startsWith("data:")) data.push(text.slice(5).replace(/^ /, ""));
    else if (/^(?:event|id|retry)(?::|$)/.test(text)) otherFields.push(text);
    else oddLines.push(text);
  }
  return { events, comments, oddLines, rest: [...otherFields, ...data, rest].join("\n"), isUtf8 };
}

function splitLines(body: readonly BodyPiece[]): { lines: Line[]; rest: string; isUtf8: boolean } {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const lines: Line[] = [];
  let rest = "";
  let isUtf8 = true;
  for (const { atMs, bytes } of body) {
    try {
      rest += decoder.decode(bytes, { stream: true });
    } catch {
      isUtf8 = false;
      rest += bytes.toString("latin1");
    }
    // A CR at the end may be the first half of CRLF, so it waits for the next bytes.
    const parts = rest.split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? "";
    for (const text of parts) lines.push({ atMs, text });
  }
  if (rest.endsWith("\r")) lines.push({ atMs: body.at(-1)?.atMs ?? 0, text: rest.slice(0, -1) });
  return { lines, rest: rest.endsWith("\r") ? "" : rest, isUtf8 };
}
