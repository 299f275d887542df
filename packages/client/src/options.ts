import { keepAliveMs, requestDeadlineMs } from "@parley/contract/retry-rules";

/** The head of a response, passed to `onResponse` as soon as it arrives. Responses that are retried are included. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The id of the request; undefined if the service did not send the response. */
  readonly requestId: string | undefined;
  /** All headers, such as `x-ratelimit-remaining-tokens` and `x-ignored-params`. */
  readonly headers: Headers;
}

/** Settings of a client that a single call can override. */
export interface SharedOptions {
  /**
   * The longest wait in milliseconds, with retries and pauses. For a stream it ends when the headers arrive, otherwise when
   * the whole response has arrived. Above 0; `Infinity` turns it off. Default: 610 000, which is more than the 600 seconds
   * that the service allows a request.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The longest silence in a stream, in milliseconds. Above 0; `Infinity` turns it off. Default: 60 000. The service sends a
   * keep-alive comment after a quarter of that.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * The maximum number of retries of one request. A request is retried only if a retry may help, and before a successful
   * response has begun. 0 turns retries off. Default: 2. For the service, a retry is a new request: if a
   * connection broke after generation had begun, both are charged. With a header `Idempotency-Key`, which every
   * retry repeats, an answer that was whole is sent again and charged once.
   */
  readonly maxRetries?: number | undefined;
  /** Further headers. They replace headers of the same name that this package sets. */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /** Refuse ignored parameters with `unknown_parameter`. Default: false; the header `x-ignored-params` names them. */
  readonly strictParams?: boolean | undefined;
  /** Called with the status and headers of each response. If it throws, the call ends with that error. */
  readonly onResponse?: ((info: ResponseInfo) => void) | undefined;
}

export interface CallOptions extends SharedOptions {
  /** Aborts the call, also during a pause between retries. Its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Your own id of the request, up to 512 printable ASCII characters. It is echoed as `X-Client-Request-Id`. */
  readonly clientRequestId?: string | undefined;
}

export type ApiKey = string | (() => string | Promise<string>);

export interface ParleyOptions extends SharedOptions {
  /** The address of the service, such as `https://api.example.com/v1`. With or without `/v1`. Default: `PARLEY_URL`. */
  readonly baseURL?: string | undefined;
  /**
   * The key, or a function that returns it. The function is called for every attempt, so keys can be rotated. Default:
   * `PARLEY_KEY`.
   */
  readonly apiKey?: ApiKey | undefined;
  /**
   * Allow use in a browser, where everybody who opens the page can read the key. Default: false; `createParley()` then
   * throws in a browser.
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
  /** The function that sends requests. It must honour `init.signal`. Default: the global `fetch` at the time of the request. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** The settings of one call, with all defaults filled in. */
export interface Settings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxRetries: number;
  readonly onResponse: ((info: ResponseInfo) => void) | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Makes the headers of one attempt. */
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

/** Makes the header with the key. The runtime's own error is dropped, because its message may quote the key. */
function authorize(apiKey: string): Headers {
  try {
    return new Headers({ authorization: `Bearer ${apiKey}` });
  } catch {
    throw new TypeError("apiKey has characters that an HTTP header cannot carry.");
  }
}
