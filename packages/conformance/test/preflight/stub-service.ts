import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, isIP } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import selfsigned from "selfsigned";

/** A server on a port of its own, with the requests that it received as `METHOD PATH`. */
export interface Stub extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly string[];
}

export type Reply = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
};

/** A sound service with these models, as vLLM answers. It requires the key `right-key-4711`. */
export const soundReply =
  (ids: readonly string[], path = "/v1"): Reply =>
  (request, response, body) => {
    if (!request.url?.startsWith(`${path}/`)) return json(response, 404, { detail: "Not Found" });
    if (request.headers.authorization !== "Bearer right-key-4711")
      return json(response, 401, { error: "Unauthorized" });
    if (request.url === `${path}/models`)
      return json(response, 200, { object: "list", data: ids.map((id) => ({ id, object: "model" })) });
    if (request.url !== `${path}/chat/completions`) return json(response, 404, { detail: "Not Found" });
    const model = modelIn(body);
    if (model === undefined)
      return json(response, 400, { error: { message: "Invalid JSON", type: "BadRequestError" } });
    if (!ids.includes(model))
      return json(response, 404, {
        error: { message: `The model \`${model}\` does not exist.`, type: "NotFoundError" },
      });
    return json(response, 200, completion);
  };

function modelIn(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "model" in value ? String(value.model) : "";
  } catch {
    return undefined;
  }
}

export const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Red." }, finish_reason: "stop" }],
};

const html = "<!doctype html><html><head><title>Welcome to nginx!</title></head></html>";
export const page =
  (status: number, text = html): Reply =>
  (_request, response) =>
    void response.writeHead(status, { "Content-Type": "text/html" }).end(text);

/** Every listing is answered like this, and every chat like that. */
export const each =
  (listing: Reply, chat: Reply): Reply =>
  (request, response, body) =>
    (request.method === "GET" ? listing : chat)(request, response, body);

export const status =
  (code: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (_request, response) =>
    json(response, code, body, headers);

export const listed = (...names: readonly string[]): Reply =>
  status(200, { object: "list", data: names.map((id) => ({ id })) });
export const redirect =
  (code: number, to: (path: string) => string): Reply =>
  (request, response) =>
    void response.writeHead(code, { Location: to(request.url ?? "") }).end();

const listener =
  (reply: Reply, requests: string[]): RequestListener =>
  (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => reply(request, response, body));
  };

async function listen(server: Server, requests: string[], host = "127.0.0.1"): Promise<Stub> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined));
  });
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  return {
    port,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

export function startHttp(reply: Reply, host?: string): Promise<Stub> {
  const requests: string[] = [];
  return listen(createServer(listener(reply, requests)), requests, host);
}

export interface Certificate {
  readonly private: string;
  readonly cert: string;
}

export function startTls(reply: Reply, { private: key, cert }: Certificate, more: object = {}): Promise<Stub> {
  const requests: string[] = [];
  const server = createTlsServer({ key, cert, ...more }, listener(reply, requests));
  server.on("tlsClientError", () => undefined);
  return listen(server, requests);
}

/** A server of another protocol. It gets the socket at once. */
export function startTcp(greet: (socket: Socket) => void): Promise<Stub> {
  const requests: string[] = [];
  return listen(
    createTcpServer((socket) => {
      socket.on("data", (bytes) => requests.push(bytes.toString("latin1").split(" HTTP/", 1).join("")));
      greet(socket);
    }),
    requests,
  );
}

const dayMs = 86_400_000;
const common = { keyType: "ec", algorithm: "sha256" } as const;

export const issuer = (): Promise<Certificate> =>
  selfsigned.generate([{ name: "commonName", value: "An authority of ours" }], {
    ...common,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });

/** A certificate for these names, valid from and to a day relative to now, signed by itself or by an authority. */
export const certificateFor = (
  names: readonly string[],
  fromDay: number,
  toDay: number,
  authority?: Certificate,
): Promise<Certificate> =>
  selfsigned.generate([{ name: "commonName", value: names[0] ?? "" }], {
    ...common,
    notBeforeDate: new Date(Date.now() + fromDay * dayMs),
    notAfterDate: new Date(Date.now() + toDay * dayMs),
    ...(authority && { ca: { key: authority.private, cert: authority.cert } }),
    extensions: [
      {
        name: "subjectAltName",
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
  });
