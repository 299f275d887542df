import createClient from "openapi-fetch";
import { writeExact } from "./exact-json.ts";
import type { paths } from "@parley/contract/types";
import type { ChatCompletion, CreateRequest, KeyState, Model, Receipt, StreamRequest } from "./types.ts";

/** The inputs of one attempt. */
export interface Exchange {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
}

/** The result of one attempt. `response.ok` decides if it failed, because the body of an error may be anything or empty. */
export interface Outcome<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export type Operation<T> = (exchange: Exchange) => Promise<Outcome<T>>;

/** The operations of the contract. No other file knows openapi-fetch. */
export interface Operations {
  create(request: CreateRequest): Operation<ChatCompletion>;
  stream(request: StreamRequest): Operation<ReadableStream<Uint8Array> | null>;
  models(): Operation<{ readonly data: Model[] }>;
  model(id: string): Operation<Model>;
  key(): Operation<KeyState>;
  receipt(requestId: string): Operation<Receipt>;
}

export function openOperations(baseURL: string): Operations {
  const client = createClient<paths, "application/json">({
    baseUrl: baseURL.replace(/(\/v1)?\/*$/, ""), // the contract's paths begin with /v1
    bodySerializer: (body) => writeExact(body) ?? "",
    Request: PlainRequest as unknown as typeof Request, // openapi-fetch only constructs it and passes it to `fetch`
  });
  const chat = "/v1/chat/completions";
  return {
    create: (request) => (exchange) => client.POST(chat, { ...toInit(exchange), body: { ...request, stream: false } }),
    stream: (request) => (exchange) =>
      client.POST(chat, { ...toInit(exchange), body: { ...request, stream: true }, parseAs: "stream" }),
    models: () => (exchange) => client.GET("/v1/models", toInit(exchange)),
    model: (id) => (exchange) =>
      client.GET("/v1/models/{model}", { ...toInit(exchange), params: { path: { model: id } } }),
    key: () => (exchange) => client.GET("/v1/key", toInit(exchange)),
    receipt: (id) => (exchange) =>
      client.GET("/v1/usage/{request_id}", { ...toInit(exchange), params: { path: { request_id: id } } }),
  };
}

/** A URL and an init as two values, because the caller's `fetch` may not accept the `Request` of this runtime. */
class PlainRequest {
  declare readonly url: string;
  declare readonly init: RequestInit;

  constructor(url: string, init: RequestInit) {
    Object.assign(this, { url, init });
  }
}

function toInit({ headers, signal, send }: Exchange) {
  return {
    headers,
    signal,
    // The class above has made the request.
    fetch: (request: Request): Promise<Response> => send(request.url, (request as unknown as PlainRequest).init),
  };
}
