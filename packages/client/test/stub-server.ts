import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";

/** A request as it arrived. */
export interface StubRequest {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The number of the connection, which shows a test if a connection was reused. */
  readonly connection: number;
  /** Resolves when the client has hung up or the answer is complete. */
  readonly closed: Promise<"hung up" | "complete">;
}

export type Reply = (response: ServerResponse) => unknown;

export interface StubServer extends AsyncDisposable {
  readonly origin: string;
  readonly baseURL: string;
  readonly requests: readonly StubRequest[];
}

/** Starts a real HTTP server. It gives each request the next reply, and repeats the last one. */
export async function startStub(...replies: readonly Reply[]): Promise<StubServer> {
  const requests: StubRequest[] = [];
  const sockets: Socket[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = replies[Math.min(requests.length, replies.length - 1)];
    if (!sockets.includes(request.socket)) sockets.push(request.socket);
    const closed = new Promise<"hung up" | "complete">((resolve) => {
      response.once("close", () => resolve(response.writableFinished ? "complete" : "hung up"));
    });
    const { method, url, headers } = request;
    const connection = sockets.indexOf(request.socket);
    requests.push({ line: `${method} ${url}`, headers, body: await text(request), connection, closed });
    await reply?.(response);
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    baseURL: `${origin}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Answers with a JSON body, or with a string unchanged. */
export const answer =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) => {
    const bytes = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_stub", ...headers });
    response.end(bytes);
  };

/** Answers with an error envelope. */
export const fail = (status: number, code: string | null, headers: Readonly<Record<string, string>> = {}): Reply =>
  answer(
    status,
    { error: { message: `It failed: ${code}.`, type: "server_error", param: null, code }, request_id: "req_stub" },
    headers,
  );

/** Answers with the head of a stream and these bytes, and then calls `after`. By default, it ends the answer. */
export const stream =
  (bytes: string, after: Reply = (response) => response.end()): Reply =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_stub" });
    response.flushHeaders();
    if (bytes !== "") await new Promise((resolve) => void response.write(bytes, resolve));
    await after(response);
  };

/** Keeps the connection open. */
export const stall: Reply = () => undefined;

/** Breaks the connection. */
export const reset: Reply = (response) => response.socket?.resetAndDestroy();

export const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "vendor/model-1",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hello.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    cost_usd: "0.000001",
  },
  system_fingerprint: "fp_1",
};

/** Returns the event for one piece of text. */
export function event(content: string, finish_reason: string | null = null): string {
  const { choices: _, usage: __, ...head } = completion;
  const delta = finish_reason === null ? { content } : {};
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  return `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices })}\n\n`;
}

export const done = "data: [DONE]\n\n";
export const wholeStream = `${event("Hel")}${event("lo.")}${event("", "stop")}${done}`;
