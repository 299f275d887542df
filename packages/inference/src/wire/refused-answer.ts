/** The maximum number of characters kept of a body, which may be a page of HTML. */
const maxCharacters = 500;

/** The headers of an answer, by their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP answer with another status than 200, or with an encoded body. Its message is for the log, never for a caller. */
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
    const start = await readStart(body);
    const encoding = headers["content-encoding"];
    const message =
      encoding === undefined ? findMessage(start) : `a body in ${String(encoding)}, which was not asked for`;
    return new RefusedAnswerError(status, message, headers);
  }

  /**
   * The value of `Retry-After` in milliseconds, 0 or more; the largest if it is given several times. A date counts from the
   * `Date` of the answer, because clocks differ. Undefined: none, or malformed.
   */
  get retryAfterMs(): number | undefined {
    const { "retry-after": values = [], date } = this.headers;
    const waits = [values].flat().map((value) => msUntil(value, String(date)));
    const valid = waits.filter((ms) => !Number.isNaN(ms));
    return valid.length === 0 ? undefined : Math.max(0, ...valid);
  }
}

/** @param value seconds, or a date of HTTP: `Date.parse` alone would take `-5` for a day in May @returns NaN if it is neither */
function msUntil(value: string, date: string): number {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  return value.endsWith(" GMT") ? Date.parse(value) - Date.parse(date) : Number.NaN;
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

const shorten = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, maxCharacters);
