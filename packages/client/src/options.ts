import { keepAliveMs, requestDeadlineMs } from "./generated/retry-rules.ts";

/** What the caller receives of each response as soon as its headers arrive, including responses that are retried. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The service's name for the request; undefined where something else has answered. */
  readonly requestId: string | undefined;
  /** All headers, such as `x-ratelimit-remaining-tokens` and `x-ignored-params`. */
  readonly headers: Headers;
}

/** Settings of a client that a single call can override. */
export interface SharedOptions {
  /**
   * How long to wait, in milliseconds, retries and pauses included: for a stream until its headers arrive, otherwise until
   * the whole response has. Above 0; `Infinity` waits for ever. Default: 610 000, so that the service's own bound of 600
   * seconds comes first.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The longest silence in a stream, in milliseconds. Above 0; `Infinity` waits for ever. Default: 60 000, four times the
   * silence after which the service sends a keep-alive comment.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * The most retries of one request. A request is retried only where the contract says that it helps and nothing of the
   * response has arrived. 0 turns retries off. Default: 2. The service cannot tell a retry from a new request: where a
   * connection broke after generation had begun, both are charged.
   */
  readonly maxRetries?: number | undefined;
  /** Further headers. They replace those that this package sets itself. */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /** Refuse parameters that would be ignored, with `unknown_parameter`. Default: false; then `x-ignored-params` names them. */
  readonly strictParams?: boolean | undefined;
  /** Called with the status and headers of each response. What it throws ends the call. */
  readonly onResponse?: ((info: ResponseInfo) => void) | undefined;
}

export interface CallOptions extends SharedOptions {
  /** Ends the call, pauses between retries included. Its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** A name of your own for the request, up to 512 printable ASCII characters; it is echoed (`X-Client-Request-Id`). */
  readonly clientRequestId?: string | undefined;
}

export type ApiKey = string | (() => string | Promise<string>);

export interface ParleyOptions extends SharedOptions {
  /** Where the service is, such as `https://api.example.com/v1`. With or without `/v1`. Default: `PARLEY_URL`. */
  readonly baseURL?: string | undefined;
  /**
   * The key, or a function that gives it; the function is called for every attempt, so that keys can be rotated. Default:
   * `PARLEY_KEY`.
   */
  readonly apiKey?: ApiKey | undefined;
  /**
   * Run in a browser, too, where whoever opens the page can read the key. Default: false; then a client in a browser is
   * refused.
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
  /** What sends requests; it must honour `init.signal`. Default: the global `fetch`, looked up at every request. */
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

export function settle(options: ParleyOptions, apiKey: ApiKey, call: CallOptions = {}): Settings {
  const pick = <Name extends keyof SharedOptions>(name: Name): SharedOptions[Name] => call[name] ?? options[name];
  return {
    signal: call.signal,
    timeoutMs: pick("timeoutMs") ?? requestDeadlineMs + 10_000,
    idleTimeoutMs: pick("idleTimeoutMs") ?? 4 * keepAliveMs,
    maxRetries: pick("maxRetries") ?? 2,
    onResponse: pick("onResponse"),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    makeHeaders: async () => {
      const headers = authorize(typeof apiKey === "string" ? apiKey : await apiKey());
      if (pick("strictParams") === true) headers.set("x-strict-params", "true");
      if (call.clientRequestId !== undefined) headers.set("x-client-request-id", call.clientRequestId);
      for (const own of [options.headers, call.headers]) {
        new Headers(own).forEach((value, name) => headers.set(name, value));
      }
      return headers;
    },
  };
}

/** A runtime that refuses a header may quote the key in its message, so that message is dropped. */
function authorize(apiKey: string): Headers {
  try {
    return new Headers({ authorization: `Bearer ${apiKey}` });
  } catch {
    throw new TypeError("apiKey has characters that an HTTP header cannot carry.");
  }
}
