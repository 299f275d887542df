import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestServer, testKey } from "@parley/server/testing";

/** A real Parley, and the same one behind a proxy that loses the end of every stream. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  readonly truncatingUrl: string;
  readonly key: string;
}

/** What the scripted engine plays for the prompt `script:NAME`. */
const scenarios = {
  answer: [
    { role: true, tokens: 0 },
    { text: '{"city":"Oslo"}' },
    { tool: { index: 0, name: "get_weather", arguments: '{"city":"Oslo"}' } },
    { finish: "tool_calls" },
  ],
  whole: [{ role: true, tokens: 0 }, { text: "one" }, { text: "two" }, { text: "three" }, { finish: "stop" }],
  broken: [{ role: true, tokens: 0 }, { text: "one" }, { fail: "out of memory" }],
} as const;

export async function startTarget(): Promise<Target> {
  const server = await startTestServer({ scenarios });
  const url = new URL("/", server.baseUrl).origin;
  const proxy = createServer((request, response) => void forward(url, request, response));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo; // listening on TCP
  return {
    url,
    truncatingUrl: `http://127.0.0.1:${port}`,
    key: testKey,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

/** The answer ends in good order, but without the stream's last event. */
async function forward(url: string, ...[request, response]: Parameters<Handler>): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array); // no encoding is set
  // Java's client offers HTTP/2 with `Upgrade`, which fetch refuses to send.
  const { host: _host, connection: _connection, upgrade: _upgrade, ...headers } = request.headers;
  const answer = await fetch(url + request.url, {
    method: request.method ?? "GET",
    headers: headers as Record<string, string>, // none of those that may be repeated is sent
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  });
  const text = await answer.text();
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
  response.end(text.replace(/^data: \[DONE\]\s*$/m, ""));
}
