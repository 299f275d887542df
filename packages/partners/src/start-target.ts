import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestServer, testKey } from "@parley/server/testing";

/** A real Parley server, and proxies to it that change its answers. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  /** URL of a proxy that cuts off the end of every stream. */
  readonly truncatingUrl: string;
  /** URL of a proxy that adds values that a later version of the contract may have. */
  readonly growingUrl: string;
  readonly key: string;
}

/** Scripts that the scripted engine plays for the prompt `script:NAME`. */
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
  const truncating = await startProxy(url, (text) => text.replace(/^data: \[DONE\]\s*$/m, ""));
  const growing = await startProxy(url, withNewValues);
  return {
    url,
    truncatingUrl: truncating.url,
    growingUrl: growing.url,
    key: testKey,
    async [Symbol.asyncDispose]() {
      truncating.close();
      growing.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const withNewValues = (text: string): string =>
  text
    .replaceAll(/"finish_reason":"\w+"/g, '"finish_reason":"new_reason"')
    .replaceAll(/"code":"\w+"/g, '"code":"new_code"')
    .replaceAll('"type":"invalid_request_error"', '"type":"new_error"')
    .replaceAll(/"object":"[\w.]+"/g, '"object":"new.object"');

type Change = (text: string) => string;

async function startProxy(target: string, change: Change): Promise<{ readonly url: string; close(): void }> {
  const proxy = createServer((request, response) => void forward({ target, change }, request, response));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

/** Headers of an answer that describe its bytes. They are dropped, because the proxy changes the bytes. */
const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "content-encoding",
]);

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

/** Forwards a request and changes the text of its answer. The connection still ends cleanly. */
async function forward(
  { target, change }: { readonly target: string; readonly change: Change },
  ...[request, response]: Parameters<Handler>
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array); // no encoding is set
  // Java's client offers HTTP/2 with `Upgrade`, which fetch refuses to send.
  const { host: _host, connection: _connection, upgrade: _upgrade, ...headers } = request.headers;
  const answer = await fetch(target + request.url, {
    method: request.method ?? "GET",
    headers: headers as Record<string, string>, // none of those that may be repeated is sent
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  });
  const text = await answer.text();
  for (const [name, value] of answer.headers) if (!connectionHeaders.has(name)) response.setHeader(name, value);
  response.writeHead(answer.status);
  response.end(change(text));
}
