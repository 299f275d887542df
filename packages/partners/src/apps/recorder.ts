import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that notes what an app asks for, and what it is told. */
export interface Recorder extends Disposable {
  /** With `/v1`. */
  readonly baseUrl: string;
  /** `POST /v1/chat/completions 200`, each once, in the order of their first appearance. */
  requests(): string[];
  /** The contents of the answers, streamed or not. */
  answers(): string[];
}

/** Headers that speak of the bytes on the way. */
const hopHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"]);

/** @param target scheme, host and port */
export async function startRecorder(target: string): Promise<Recorder> {
  const requests = new Set<string>();
  const answers: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array); // no encoding is set
      const { host: _host, connection: _connection, ...headers } = request.headers;
      const answer = await fetch(target + request.url, {
        method: request.method ?? "GET",
        headers: headers as Record<string, string>, // none of those that may be repeated is sent
        body: chunks.length > 0 ? Buffer.concat(chunks) : null,
      });
      const text = await answer.text();
      requests.add(`${request.method} ${request.url?.split("?")[0]} ${answer.status}`);
      if (answer.ok) answers.push(contentOf(text));
      for (const [name, value] of answer.headers) if (!hopHeaders.has(name)) response.setHeader(name, value);
      response.writeHead(answer.status);
      response.end(text);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests: () => Array.from(requests),
    answers: () => answers.filter((answer) => answer.trim() !== ""),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The text that a model wrote, out of a whole answer or a stream. */
function contentOf(text: string): string {
  const bodies = text.startsWith("data:") ? text.split("\n\n").map((event) => event.replace(/^data: /, "")) : [text];
  return bodies.map(contentIn).join("");
}

interface Body {
  readonly choices?: readonly { readonly message?: Message; readonly delta?: Message }[];
}
interface Message {
  readonly content?: string | null;
}

function contentIn(body: string): string {
  if (!body.startsWith("{")) return "";
  const { choices = [] } = JSON.parse(body) as Body; // an answer of the contract
  return choices.map(({ message, delta }) => message?.content ?? delta?.content ?? "").join("");
}
