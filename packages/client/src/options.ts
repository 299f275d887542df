import { keepAliveMs, requestDeadlineMs } from "./generated/retry-rules.ts";

/** What the caller is told of each answer as soon as its head is there, an answer that is retried included. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The service's name for the request; undefined where something else has answered. */
  readonly requestId: string | undefined;
  /** All headers, such as `x-ratelimit-remaining-tokens` and `x-ignored-params`. */
  readonly headers: Headers;
}

/** What can be said once for a client, and again for a single call; the call wins. */
export interface SharedOptions {
  /**
   * How long to wait, in milliseconds, retries and pauses included: for a stream until its head is there, otherwise until
   * the whole answer is. Above 0; `Infinity` waits for ever. Default: 610 000, so that the service's own bound of 600
   * seconds comes first.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The longest silence in a stream, in milliseconds. Above 0; `Infinity` waits for ever. Default: 60 000, four times the
   * silence after which the service sends a sign of life.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How often a request is repeated at most, where the contract says that it helps and nothing of the answer has come. 0
   * turns retries off. Default: 2. There is no way to tell a repeated request from a new one: where a connection broke
   * after the service had begun, both are charged.
   */
  readonly maxRetries?: number | undefined;
  /** Further headers. One that this package sets, too, takes the place of its value. */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /** Refuse members that would be ignored, with `unknown_parameter`. Default: false; then `x-ignored-params` names them. */
  readonly strictParams?: boolean | undefined;
  /** Called with the head of each answer. What it throws ends the call. */
  readonly onResponse?: ((info: ResponseInfo) => void) | undefined;
}

export interface CallOptions extends SharedOptions {
  /** Ends the call, pauses between retries included. Its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** A name of your own for the request, up to 512 printable ASCII characters; it is echoed (`X-Client-Request-Id`). */
  readonly clientRequestId?: string | undefined;
}

export interface ParleyOptions extends SharedOptions {
  /** Where the service is, such as `https://api.example.com/v1`. With or without `/v1`. */
  readonly baseURL: string;
  /** The key, or a function that gives it; the function is called for every attempt, so that keys can be rotated. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** What sends requests; it has to heed `init.signal`. Default: the global `fetch`, looked up at every request. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Everything that one call needs, with nothing left open. */
export interface Settings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxRetries: number;
  readonly onResponse: ((info: ResponseInfo) => void) | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Made anew for each attempt. */
  makeHeaders(): Promise<Headers>;
}

export function settle(options: ParleyOptions, call: CallOptions = {}): Settings {
  const pick = <Name extends keyof SharedOptions>(name: Name): SharedOptions[Name] => call[name] ?? options[name];
  return {
    signal: call.signal,
    timeoutMs: pick("timeoutMs") ?? requestDeadlineMs + 10_000,
    idleTimeoutMs: pick("idleTimeoutMs") ?? 4 * keepAliveMs,
    maxRetries: pick("maxRetries") ?? 2,
    onResponse: pick("onResponse"),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    makeHeaders: async () => {
      const headers = authorize(typeof options.apiKey === "string" ? options.apiKey : await options.apiKey());
      if (pick("strictParams") === true) headers.set("x-strict-params", "true");
      if (call.clientRequestId !== undefined) headers.set("x-client-request-id", call.clientRequestId);
      for (const own of [options.headers, call.headers]) {
        new Headers(own).forEach((value, name) => headers.set(name, value));
      }
      return headers;
    },
  };
}

/** What a runtime says of a header that it refuses may hold the key, so none of its words go on. */
function authorize(apiKey: string): Headers {
  try {
    return new Headers({ authorization: `Bearer ${apiKey}` });
  } catch {
    throw new TypeError("apiKey has characters that an HTTP header cannot carry.");
  }
}
