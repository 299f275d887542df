import createClient from "openapi-fetch";
import { writeExact } from "./exact-json.ts";
import type { paths } from "./generated/contract.ts";
import type { ChatCompletion, CreateRequest, Model, StreamRequest } from "./types.ts";

/** What one attempt needs. */
export interface Exchange {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
}

/** What one attempt ends with. An error's body may be anything, nothing included: `response.ok` decides. */
export interface Outcome<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export type Operation<T> = (exchange: Exchange) => Promise<Outcome<T>>;

/** The operations of the contract. This file alone knows openapi-fetch, and nothing of it leaves here. */
export interface Operations {
  create(request: CreateRequest): Operation<ChatCompletion>;
  stream(request: StreamRequest): Operation<ReadableStream<Uint8Array> | null>;
  models(): Operation<{ readonly data: Model[] }>;
  model(id: string): Operation<Model>;
}

export function openOperations(baseURL: string): Operations {
  const client = createClient<paths, "application/json">({
    baseUrl: baseURL.replace(/(\/v1)?\/*$/, ""), // the contract's paths begin with /v1
    bodySerializer: (body) => writeExact(body) ?? "",
    Request: PlainRequest as unknown as typeof Request, // openapi-fetch only makes one and hands it to `fetch`
  });
  const chat = "/v1/chat/completions";
  return {
    create: (request) => (exchange) => client.POST(chat, { ...toInit(exchange), body: { ...request, stream: false } }),
    stream: (request) => (exchange) =>
      client.POST(chat, { ...toInit(exchange), body: { ...request, stream: true }, parseAs: "stream" }),
    models: () => (exchange) => client.GET("/v1/models", toInit(exchange)),
    model: (id) => (exchange) =>
      client.GET("/v1/models/{model}", { ...toInit(exchange), params: { path: { model: id } } }),
  };
}

/** Address and init, kept apart: a `fetch` that the caller brings need not know this runtime's own `Request`. */
class PlainRequest {
  readonly url: string;
  readonly init: RequestInit;

  constructor(url: string, init: RequestInit) {
    this.url = url;
    this.init = init;
  }
}

function toInit({ headers, signal, send }: Exchange) {
  return {
    headers,
    signal,
    fetch: (request: Request): Promise<Response> => {
      const { url, init } = request as unknown as PlainRequest; // made by the class above
      return send(url, init);
    },
  };
}
