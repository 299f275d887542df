import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer on its way to the caller, whole. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Fault {
  /** Changes the request before the server sees it. */
  readonly ask?: (body: string) => string;
  /** Changes the answer before the caller sees it. */
  readonly answer?: (answer: Answer) => void;
}

/** Stands before an honest server and breaks exactly one thing. The shipped server holds no switch for it. */
export async function startFaultyProxy(origin: string, fault: Fault): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    relay(origin, request, response, fault).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const ownOfConnection = new Set(["connection", "content-length", "transfer-encoding", "host", "keep-alive", "expect"]);

async function relay(origin: string, request: IncomingMessage, response: ServerResponse, fault: Fault): Promise<void> {
  const { status, headers, body } = await forward(origin, request, fault);
  response.writeHead(status, headers);
  response.end(request.method === "HEAD" ? "" : body);
}

async function forward(origin: string, request: IncomingMessage, fault: Fault): Promise<Answer> {
  const sent = Buffer.concat(await request.toArray());
  const ask = fault.ask && sent.length > 0 ? Buffer.from(fault.ask(sent.toString())) : sent;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === "string" && !ownOfConnection.has(name) ? [[name, value] as [string, string]] : [],
  );
  const hasBody = request.method === "POST";
  const received = await fetch(`${origin}${request.url}`, {
    method: request.method ?? "GET",
    headers,
    ...(hasBody ? { body: ask } : {}),
  });
  const kept = [...received.headers].filter(([name]) => !ownOfConnection.has(name));
  const answer = { status: received.status, headers: Object.fromEntries(kept), body: await received.text() };
  fault.answer?.(answer);
  return answer;
}
