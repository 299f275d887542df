import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface CuttingFront extends AsyncDisposable {
  /** The base URL with `/v1`. */
  readonly baseUrl: string;
  /** The value of `Idempotency-Key` of each request so far. */
  readonly keys: readonly (string | undefined)[];
}

/**
 * Starts a proxy that loses the first answer: it cuts the connection of that client when the request has been sent on
 * (`asked`), or when its whole answer is there (`answered`). It never ends a request to the service itself.
 * @param origin that of the service
 */
export async function startCuttingFront(origin: string, at: "asked" | "answered"): Promise<CuttingFront> {
  const keys: (string | undefined)[] = [];
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", headers } = request;
    const isLost = keys.push(headers["idempotency-key"]?.toString()) === 1;
    const { host: _host, connection: _connection, "content-length": _length, ...own } = headers;
    const sent: Record<string, string> = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [name, String(value)]),
    );
    const body = new Uint8Array(await buffer(request));
    const answered = fetch(`${origin}${url}`, { method, headers: sent, ...(body.length > 0 && { body }) });
    if (isLost && at === "asked") response.socket?.resetAndDestroy();
    const answer = await answered;
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (isLost) return void response.socket?.resetAndDestroy();
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
  };
  const server = createServer((request, response) => void forward(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keys,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
