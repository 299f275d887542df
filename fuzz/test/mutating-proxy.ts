import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A complete answer on its way to the caller. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The changes that the proxy makes to requests and answers. */
export interface Mutation {
  /** Changes the request before the server sees it. */
  readonly request?: (body: string) => string;
  /** Changes the answer before the caller sees it. */
  readonly answer?: (answer: Answer) => void;
}

/** A proxy in front of a correct server that adds exactly one bug, so that the shipped server needs no switch for it. */
export async function startMutatingProxy(
  origin: string,
  mutation: Mutation,
): Promise<{ url: string } & AsyncDisposable> {
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    relay(origin, request, response, mutation).catch(() => response.destroy());
  };
  // Without a listener, Node itself answers an unknown `Expect`, and the server never gets the request.
  const server = createServer(take).on("checkExpectation", take);
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

const ownOfConnection = new Set(["connection", "content-length", "transfer-encoding", "host", "keep-alive"]);

async function relay(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  mutation: Mutation,
): Promise<void> {
  const { status, headers, body } = await forward(origin, request, mutation);
  response.writeHead(status, headers);
  response.end(request.method === "HEAD" ? "" : body);
}

async function forward(origin: string, request: IncomingMessage, mutation: Mutation): Promise<Answer> {
  const sent = Buffer.concat(await request.toArray());
  const mutated = mutation.request && sent.length > 0 ? Buffer.from(mutation.request(sent.toString())) : sent;
  const length = request.method === "POST" ? { "content-length": String(mutated.length) } : {};
  const outgoing = send(`${origin}${request.url}`, {
    method: request.method,
    // Answers are changed as text, and the docs are sent compressed to those who accept it.
    headers: { ...passedOn(request.headers), ...length, "accept-encoding": "identity" },
  });
  outgoing.end(mutated);
  const [received] = (await once(outgoing, "response")) as [IncomingMessage];
  const body = Buffer.concat(await received.toArray()).toString();
  const answer = { status: received.statusCode ?? 502, headers: passedOn(received.headers), body };
  mutation.answer?.(answer);
  return answer;
}

const passedOn = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !ownOfConnection.has(name) ? [[name, value]] : [],
    ),
  );
