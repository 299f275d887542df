import type { ErrorResponse } from "./parley";

// The generated client calls these exports. Its own default would treat an error as an answer.

export interface RequestConfig<Data = unknown> {
  readonly url?: string;
  readonly method?: string;
  readonly data?: Data;
  readonly headers?: object;
}

/** An answer that is an error. */
export class RefusalError extends Error {
  override readonly name = "RefusalError";
  readonly status: number;
  readonly body: ErrorResponse;

  constructor(status: number, body: ErrorResponse) {
    super(`refused: ${body.error.code}`);
    this.status = status;
    this.body = body;
  }
}

/** @throws {RefusalError} when the answer is an error */
export async function open(config: RequestConfig): Promise<Response> {
  const response = await fetch(`${process.env["PARLEY_URL"]}${config.url}`, {
    method: config.method ?? "GET",
    headers: {
      ...config.headers,
      authorization: `Bearer ${process.env["PARLEY_KEY"]}`,
      "content-type": "application/json",
    },
    body: config.data === undefined ? null : JSON.stringify(config.data),
  });
  if (!response.ok) throw new RefusalError(response.status, (await response.json()) as ErrorResponse);
  return response;
}

export type ResponseErrorConfig<Body> = Body;

/** `Answer` is the answer that the contract gives to the operation. */
export async function send<Answer, _Failure, Data>(config: RequestConfig<Data>): Promise<{ data: Answer }> {
  const response = await open(config);
  return { data: (await response.json()) as Answer };
}

export type Client = typeof send;
export default send;
