import { createServer, request as send } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The fault of a toy gateway: it changes what passes through, or handles its connections wrongly. */
export interface Fault {
  /** Rewrites the body of a request. */
  readonly request?: (body: string) => string;
  /** Rewrites an answer that is not a stream, and its status and headers. */
  readonly answer?: (reply: Reply) => Reply;
  /** Rewrites one event of a stream, as the text between two empty lines; "" drops it. */
  readonly event?: (text: string) => string;
  /** Rewrites each piece of bytes as it arrives. */
  readonly bytes?: (piece: Buffer) => Buffer;
  /** Writes the whole stream when the upstream has ended it, through this function. */
  readonly whole?: (text: string) => string;
  /** Ends the caller's answer in good order where the upstream's connection breaks, after this text. */
  readonly endOfCut?: string;
  /** Sends a request again if the upstream breaks or answers with one of these. */
  readonly repeats?: (status: number | undefined) => boolean;
  /** Reads the upstream's answer to its end when the caller has hung up. */
  readonly isDeafToHangUps?: boolean;
  /** Headers of the caller that do not reach the upstream. */
  readonly droppedHeaders?: readonly string[];
  /** Answers such a request itself. */
  readonly answersItself?: (body: string) => boolean;
  /** Answers every request itself for this time after an error of the upstream. */
  readonly pauseAfterErrorMs?: number;
  /** Answers the second of two simultaneous requests with the answer to the first one. */
  readonly mixesAnswers?: boolean;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface ToyGateway extends AsyncDisposable {
  readonly baseUrl: string;
}

/** Starts a gateway that copies requests and answers, with one fault or none. */
export async function startToyGateway(upstreamUrl: string, fault: Fault = {}): Promise<ToyGateway> {
  const gateway = { upstreamUrl, fault, first: undefined as string | undefined, pausedUntilMs: 0 };
  const server = createServer((request, response) => void pass(request, response, gateway));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Gateway {
  readonly upstreamUrl: string;
  readonly fault: Fault;
  first: string | undefined;
  pausedUntilMs: number;
}

async function pass(request: IncomingMessage, response: ServerResponse, gateway: Gateway): Promise<void> {
  const { fault } = gateway;
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer); // no encoding was set
  const text = Buffer.concat(parts).toString("utf8");
  if (fault.answersItself?.(text) === true) return void response.writeHead(404).end("{}");
  if (performance.now() < gateway.pausedUntilMs) return void response.writeHead(503).end("{}");
  const hungUp = new AbortController();
  if (fault.isDeafToHangUps !== true) response.on("close", () => hungUp.abort());
  const body = fault.request?.(text) ?? text;
  for (let tries = 0; tries < 2; tries += 1) {
    const isLast = tries === 1;
    const done = await forward(request, response, { body, gateway, signal: hungUp.signal, isLast });
    if (done) return;
  }
}

interface Forwarding {
  readonly body: string;
  readonly gateway: Gateway;
  readonly signal: AbortSignal;
  readonly isLast: boolean;
}

/** Returns false if the request is to be sent again. */
function forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<boolean> {
  const { body, gateway, signal, isLast } = forwarding;
  const { fault, upstreamUrl } = gateway;
  const dropped = new Set(["host", "content-length", "connection", ...(fault.droppedHeaders ?? [])]);
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !dropped.has(name)));
  return new Promise((resolve) => {
    const repeats = (status: number | undefined): boolean => !isLast && fault.repeats?.(status) === true;
    const fail = (): void => {
      if (signal.aborted) return resolve(true);
      if (repeats(undefined)) return resolve(false);
      if (fault.endOfCut !== undefined) response.end(fault.endOfCut);
      else if (response.headersSent) response.socket?.resetAndDestroy();
      else response.writeHead(502, { "content-type": "application/json" }).end('{"error":{"message":"bad gateway"}}');
      resolve(true);
    };
    const path = `${new URL(upstreamUrl).pathname.replace("/v1", "")}${request.url ?? ""}`;
    const outgoing = send(new URL(path, upstreamUrl), { method: request.method ?? "POST", headers, signal });
    outgoing.on("error", fail).on("response", (incoming) => {
      if ((incoming.statusCode ?? 0) >= 400) gateway.pausedUntilMs = performance.now() + (fault.pauseAfterErrorMs ?? 0);
      if (repeats(incoming.statusCode)) {
        incoming.resume();
        return resolve(false);
      }
      const isStream = incoming.headers["content-type"] === "text/event-stream";
      void (isStream ? copyStream(incoming, response, fault) : copyWhole(incoming, response, gateway)).then(
        () => resolve(true),
        fail,
      );
    });
    outgoing.end(body);
  });
}

const ownHeaders = new Set(["content-length", "transfer-encoding", "connection", "keep-alive", "date"]);
const passedHeaders = (headers: IncomingMessage["headers"]): Record<string, string | string[] | undefined> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)));

async function copyWhole(incoming: IncomingMessage, response: ServerResponse, gateway: Gateway): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer); // no encoding was set
  const { fault } = gateway;
  const own = Buffer.concat(parts).toString("utf8");
  gateway.first ??= /"answer \d"/.test(own) ? own : undefined;
  const body = fault.mixesAnswers === true ? (gateway.first ?? own) : own;
  const reply: Reply = { status: incoming.statusCode ?? 200, headers: passedHeaders(incoming.headers), body };
  const { status, headers, body: text } = fault.answer?.(reply) ?? reply;
  response.writeHead(status, headers).end(text);
}

async function copyStream(incoming: IncomingMessage, response: ServerResponse, fault: Fault): Promise<void> {
  response.writeHead(incoming.statusCode ?? 200, passedHeaders(incoming.headers));
  response.flushHeaders();
  const isRaw = fault.event === undefined && fault.whole === undefined;
  let text = "";
  for await (const part of incoming) {
    const bytes = fault.bytes?.(part as Buffer) ?? (part as Buffer); // no encoding was set
    if (isRaw) response.write(bytes);
    else text += bytes.toString("latin1");
    if (fault.event === undefined) continue;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const one of events) write(response, fault.event(one), "\n\n");
  }
  if (fault.whole !== undefined) response.write(Buffer.from(fault.whole(text), "latin1"));
  response.end();
}

const write = (response: ServerResponse, text: string, end: string): void => {
  if (text !== "") response.write(Buffer.from(text + end, "latin1"));
};
