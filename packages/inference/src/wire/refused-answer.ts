/** The maximum number of characters read of a body, which may be a page of HTML. */
const maxCharacters = 500;

/** The headers of an answer, by their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP answer with another status than 200. Its message is for the log, never for a caller. */
export class RefusedAnswerError extends Error {
  override name = "RefusedAnswerError";
  readonly status: number;
  readonly headers: AnswerHeaders;

  constructor(status: number, message: string, headers: AnswerHeaders = {}) {
    super(`HTTP ${status}: ${message}`);
    this.status = status;
    this.headers = headers;
  }

  static async read(
    status: number,
    headers: AnswerHeaders,
    body: AsyncIterable<Uint8Array>,
  ): Promise<RefusedAnswerError> {
    return new RefusedAnswerError(status, findMessage(await readStart(body)), headers);
  }

  /** The value of `Retry-After` in milliseconds. A date counts from the `Date` of the answer, because clocks differ. Undefined: none, or malformed. */
  get retryAfterMs(): number | undefined {
    const { "retry-after": value, date } = this.headers;
    if (typeof value !== "string") return undefined;
    const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.parse(String(date));
    return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
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
