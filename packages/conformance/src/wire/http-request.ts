/** A request, described before it is sent. It holds credentials by name, as `{key}`, and never their values. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, as written in the request line. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body?: string | undefined;
  /** Instead of `body`, for bytes that are not text. */
  readonly bodyBase64?: string | undefined;
  /** Instead of everything above: the bytes on the wire, one character each. */
  readonly raw?: string | undefined;
  readonly behaviour?: Behaviour | undefined;
}

export type Header = readonly [name: string, value: string];

/** Unusual behaviour of the client. */
export interface Behaviour {
  /** The number of bytes at the end that are never sent. */
  readonly holdBackBytes?: number;
  readonly delayMs?: number;
  /** Closes the connection after this number of events. */
  readonly disconnectAfterEvents?: number;
  /** Closes the connection after this time. */
  readonly disconnectAfterMs?: number;
  /** Stops reading for this time once the first bytes have arrived. */
  readonly stopReadingMs?: number;
  /** The maximum number of bytes of the answer that are read, if it is larger than usual. */
  readonly maxBytes?: number;
  /** The longest wait for the end of the answer. */
  readonly deadlineMs?: number;
}

/** The credentials by name. */
export type Secrets = ReadonlyMap<string, string>;

const placeholder = /\{([a-z_]+)\}/g;

/** The bytes that go over the wire. */
export function toBytes(request: HttpRequest, host: string, secrets: Secrets): Buffer {
  const fill = (text: string): string => text.replaceAll(placeholder, (all, name: string) => secrets.get(name) ?? all);
  if (request.raw !== undefined) return Buffer.from(fill(request.raw), "latin1");
  const body =
    request.bodyBase64 === undefined ? Buffer.from(request.body ?? "") : Buffer.from(request.bodyBase64, "base64");
  const names = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const hasBody = request.body !== undefined || request.bodyBase64 !== undefined;
  const headers: Header[] = [
    ...(names.has("host") ? [] : [["Host", host] as const]),
    ...request.headers.map(([name, value]) => [name, fill(value)] as const),
    ...(hasBody && !names.has("content-length") ? [["Content-Length", String(body.length)] as const] : []),
  ];
  const head = [
    `${request.method} ${fill(request.target)} HTTP/1.1`,
    ...headers.map((pair) => pair.join(": ")),
    "",
    "",
  ];
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), body]);
}
