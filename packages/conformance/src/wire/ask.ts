/** A request, described before it is sent. Credentials stand in it by name, as `{key}`: their values never do. */
export interface Ask {
  readonly method: string;
  /** Path and query, as written in the request line. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body?: string | undefined;
  /** Instead of `body`, for bytes that are no text. */
  readonly bodyBase64?: string | undefined;
  /** Instead of everything above: the bytes as they go over the wire, one character each. */
  readonly raw?: string | undefined;
  readonly manner?: Manner | undefined;
}

export type Header = readonly [name: string, value: string];

/** How a request is sent, and how its answer is taken, where that is not the ordinary way. */
export interface Manner {
  /** So many of the last bytes are never sent. */
  readonly holdBackBytes?: number;
  readonly delayMs?: number;
  /** Closes the connection once so many events have come. */
  readonly leaveAfterEvents?: number;
  /** Closes the connection after so long. */
  readonly leaveAfterMs?: number;
  /** Takes nothing for so long, once the first bytes have come. */
  readonly stopReadingMs?: number;
  /** How much of the answer is taken, where that is more than usual. */
  readonly maxBytes?: number;
  /** The longest wait for the end of the answer. */
  readonly deadlineMs?: number;
}

/** Values of the credentials by name. */
export type Secrets = ReadonlyMap<string, string>;

const placeholder = /\{([a-z_]+)\}/g;

/** The bytes that go over the wire. */
export function toBytes(ask: Ask, host: string, secrets: Secrets): Buffer {
  const fill = (text: string): string => text.replaceAll(placeholder, (all, name: string) => secrets.get(name) ?? all);
  if (ask.raw !== undefined) return Buffer.from(fill(ask.raw), "latin1");
  const body = ask.bodyBase64 === undefined ? Buffer.from(ask.body ?? "") : Buffer.from(ask.bodyBase64, "base64");
  const names = new Set(ask.headers.map(([name]) => name.toLowerCase()));
  const hasBody = ask.body !== undefined || ask.bodyBase64 !== undefined;
  const headers: Header[] = [
    ...(names.has("host") ? [] : [["Host", host] as const]),
    ...ask.headers.map(([name, value]) => [name, fill(value)] as const),
    ...(hasBody && !names.has("content-length") ? [["Content-Length", String(body.length)] as const] : []),
  ];
  const head = [`${ask.method} ${fill(ask.target)} HTTP/1.1`, ...headers.map((pair) => pair.join(": ")), "", ""];
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), body]);
}

/** The same request as a command line, the key taken from the environment. */
export function toCurl(ask: Ask, origin: string, keyVariable: string): string {
  if (ask.raw !== undefined)
    return `printf ${quote(ask.raw.slice(0, 300))} | nc ${new URL(origin).host.replace(":", " ")}`;
  const word = (text: string): string => (text.includes("{key}") ? quoteWithKey(text, keyVariable) : quote(text));
  const hasBody = ask.body !== undefined || ask.bodyBase64 !== undefined;
  const hasType = ask.headers.some(([name]) => name.toLowerCase() === "content-type");
  const words = [
    "curl -sS -N -i -g",
    ask.method === "HEAD" ? "-I" : `-X ${ask.method}`,
    word(origin + ask.target),
    ...ask.headers.flatMap((pair) => ["-H", word(pair.join(": "))]),
    // Otherwise curl puts in a media type of its own.
    ...(hasBody && !hasType ? ["-H", "'Content-Type:'"] : []),
    ...(ask.body === undefined ? [] : ["--data-raw", quote(shorten(ask.body))]),
    ...(ask.bodyBase64 === undefined ? [] : ["--data-binary", "@-"]),
  ];
  const before = ask.bodyBase64 === undefined ? "" : `echo ${ask.bodyBase64} | base64 -d | `;
  const behind =
    shorten(ask.body ?? "") === (ask.body ?? "") ? "" : " # its body is cut here, and whole in the recording";
  return before + words.join(" ") + behind;
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const quoteWithKey = (text: string, variable: string): string =>
  `"${text.replaceAll(/[\\"$`]/g, String.raw`\$&`).replaceAll("{key}", `$${variable}`)}"`;
const shorten = (text: string): string => (text.length > 1500 ? `${text.slice(0, 1500)}…` : text);
