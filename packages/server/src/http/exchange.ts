import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../errors/api-error.ts";
import { HangUpError } from "../errors/hang-up.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { newId } from "./new-id.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import { formatTraceparent, readTraceparent } from "../observe/tracing.ts";
import type { RequestTrace } from "../observe/tracing.ts";

const clientIdPattern = new RegExp(`^[ -~]{1,${contract["x-limits"].clientRequestIdCharacters.value}}$`);

/** The maximum length of a path in the log and the metrics, in characters. Longer paths are cut. */
export const maxPathLength = 256;

/** A request as Node's server makes it. */
export interface HttpRequest extends IncomingMessage {
  /** The reason why the rest of the body cannot be read as HTTP, once the parser has found one. */
  bodyFault?: ApiError;
}

/** Returns a new request id. It begins with the time, so new ledger entries are neighbours in the database index. */
export const newRequestId = (): string => newId(`req_${Date.now().toString(16).padStart(12, "0")}`, 12);

/** Returns the path of a request as the client sent it, without the query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

export interface ExchangeDeps {
  readonly requestTimeoutMs: number;
  /** Aborts when the server stops waiting for running requests. */
  readonly shutdown: AbortSignal;
  /** Returns the address of the caller, as the trusted proxies report it. */
  readonly addressOf: (req: IncomingMessage) => string;
  /** A monotonic clock, in milliseconds. The wall clock could be changed while a request runs. */
  readonly elapsedMs: () => number;
}

/**
 * A request and its response. An exchange lasts from the head of the request to the `close` event of the response, or to the
 * end of work that outlives the client. It is the only listener for that event, and it owns the signal that aborts the work.
 */
export class Exchange {
  /** The request id. The server assigns it, and it is unique. */
  readonly id = newRequestId();
  readonly req: HttpRequest;
  readonly res: ServerResponse;
  /** The path as the client sent it, without the query. */
  readonly path: string;
  /** The fields of the access log. Each step adds those that it knows. */
  readonly record: RequestRecord;
  /** Undefined unless the request is traced. */
  trace: RequestTrace | undefined = undefined;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #outlivesClient = false;
  /** Undefined once the exchange has ended. */
  #closeListeners: (() => void)[] | undefined = [];

  constructor(req: HttpRequest, res: ServerResponse, { requestTimeoutMs, addressOf, elapsedMs }: ExchangeDeps) {
    this.req = req;
    this.res = res;
    this.path = pathOf(req);
    const path = this.path.slice(0, maxPathLength);
    this.record = { id: this.id, method: req.method ?? "", path, client: addressOf(req), startedAtMs: elapsedMs() };
    this.#timer = setTimeout(() => this.end(timeoutError(requestTimeoutMs)), requestTimeoutMs);
    res.on("close", () => {
      if (!this.#outlivesClient) this.#close();
    });
    res.setHeader("x-request-id", this.id);
    const clientId = this.header("x-client-request-id");
    if (clientId !== undefined && clientIdPattern.test(clientId)) res.setHeader("x-client-request-id", clientId);
  }

  #close(): void {
    clearTimeout(this.#timer);
    if (!this.res.writableFinished) this.#controller.abort(new HangUpError());
    const listeners = this.#closeListeners ?? [];
    this.#closeListeners = undefined;
    for (const listener of listeners) listener();
  }

  /** Lets the work go on when the client disconnects. The exchange then ends with the disposal. */
  outliveClient(): Disposable {
    this.#outlivesClient = true;
    return {
      [Symbol.dispose]: () => {
        this.#outlivesClient = false;
        if (this.res.closed) this.#close();
      },
    };
  }

  /**
   * Aborts when the client disconnects, the request times out, its key is disabled or the server stops. The abort reason is
   * an error that says which.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The `traceparent` for the engine: that of the request's own trace, or else that of the caller. */
  get traceparent(): string | undefined {
    const parent = this.trace ? undefined : readTraceparent(this.header("traceparent"));
    return this.trace?.traceparent ?? (parent && formatTraceparent(parent));
  }

  /** Aborts the work. `reason` becomes the answer. */
  end(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Calls the listener when the exchange has ended, or at once if it has ended already. */
  onClose(listener: () => void): void {
    if (this.#closeListeners) this.#closeListeners.push(listener);
    else listener();
  }

  /** Returns the value of a request header, undefined where it is absent. @param name in lower case */
  header(name: string): string | undefined {
    const value = this.req.headers[name];
    return typeof value === "string" ? value : undefined;
  }
}

/** Returns a function that opens an exchange for each request. A shutdown ends those that are open. */
export function exchangeOpener(deps: ExchangeDeps): (req: HttpRequest, res: ServerResponse) => Exchange {
  // All exchanges share one listener, because adding a listener to a signal takes longer the more it has.
  const open = new Set<Exchange>();
  const { shutdown } = deps;
  // Every abort in the server has an error as its reason.
  const endAll = (): void => open.forEach((exchange) => exchange.end(shutdown.reason as Error));
  shutdown.addEventListener("abort", endAll, { once: true });
  return (req, res) => {
    const exchange = new Exchange(req, res, deps);
    open.add(exchange);
    exchange.onClose(() => open.delete(exchange));
    return exchange;
  };
}

const timeoutError = (timeoutMs: number): ApiError =>
  new ApiError(
    "timeout",
    `The request was not finished within ${timeoutMs / 1000} seconds. Ask for fewer tokens, or try again later.`,
  );
