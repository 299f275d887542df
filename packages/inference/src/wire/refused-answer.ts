/** The maximum number of characters read of a body, which may be a page of HTML. */
const maxCharacters = 500;

/** An HTTP answer with another status than 200. Its message is for the log, never for a caller. */
export class RefusedAnswerError extends Error {
  override name = "RefusedAnswerError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(`HTTP ${status}: ${message}`);
    this.status = status;
  }

  static async read(status: number, body: AsyncIterable<Uint8Array>): Promise<RefusedAnswerError> {
    return new RefusedAnswerError(status, findMessage(await readStart(body)));
  }
}

async function readStart(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > 16_384) break;
    }
  } catch {
    // The body could not be read. The status is enough.
  }
  return text;
}

/**
 * Finds the message in a body. Engines and the proxies before them write `{error: {message}}`, `{error: "…"}`, `{message}`,
 * `{detail}`, HTML, or plain text.
 */
export function findMessage(text: string): string {
  return shorten(messageIn(parse(text)) ?? text.replaceAll(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, " "));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const name of ["error", "message", "detail"]) {
    const found = name in value ? messageIn(value[name as keyof typeof value]) : undefined; // `in` has just found it
    if (found !== undefined) return found;
  }
  return JSON.stringify(value);
}

const shorten = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, maxCharacters);
