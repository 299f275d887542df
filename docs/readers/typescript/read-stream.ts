export interface ToolCallPart {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

/** The fields that most programs read; `/streams.json` describes all of them. */
export interface Chunk {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly ToolCallPart[] };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number; readonly cost_usd: string } | null;
}

interface ErrorEvent {
  readonly error: { readonly code: string | null; readonly message: string };
  readonly request_id: string;
}

/** The service ended the stream with an error. */
export class StreamFailedError extends Error {
  override readonly name = "StreamFailedError";
  readonly code: string | null;
  readonly requestId: string;

  constructor({ error, request_id }: ErrorEvent) {
    super(error.message);
    this.code = error.code;
    this.requestId = request_id;
  }
}

/** The bytes ended before `[DONE]`, so the answer is not complete, even if it looks complete. */
export class StreamTruncatedError extends Error {
  override readonly name = "StreamTruncatedError";
}

/** Yields the chunks of a streamed answer. Throws an error unless the answer is complete. */
export async function* readStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk, void> {
  for await (const data of readEvents(body)) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data) as Chunk | ErrorEvent; // the contract guarantees this type
    if ("error" in event) throw new StreamFailedError(event);
    yield event;
  }
  throw new StreamTruncatedError("the stream ended without [DONE]");
}

async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    if (line !== "" || data.length === 0) continue; // a comment, another field, or an event without data
    yield data.join("\n");
    data = [];
  }
}

/** Yields lines. They end with LF, CR or CRLF. A piece may end anywhere, even inside a character or between CR and LF. */
async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder(); // drops a byte order mark
  let rest = "";
  let isAfterCr = false;
  for await (const piece of body) {
    let text = decoder.decode(piece, { stream: true });
    if (text === "") continue;
    if (isAfterCr && text.startsWith("\n")) text = text.slice(1);
    isAfterCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
