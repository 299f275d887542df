import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterEach } from "vitest";
import { EngineError } from "../src/index.ts";
import type { Engine } from "../src/index.ts";
import type { RemoteOptions } from "../src/remote/remote-engine.ts";
import { oneByOne, requestFor, stream } from "./requests.ts";
import { quickTimings } from "./start-scripted-vllm.ts";
import { startElsewhere } from "./vllm/start-vllm.ts";

/** Stand-ins for model servers, which reproduce every observed kind of answer. They are closed after every test. */

export type Answer = (response: ServerResponse, body: string, request: IncomingMessage) => void;

export interface Place {
  readonly url: string;
  /** The number of completion requests, probes included. */
  asked: number;
  readonly requests: {
    readonly path: string | undefined;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  answer: Answer;
  /** Additional members of the model's list entry. */
  listed: object;
  /** True: it breaks the connection of every request. */
  isDown: boolean;
  /** The text of `/metrics`. */
  metrics?: () => string;
  /** The number of requests whose connection it broke. */
  broken: number;
  stop(): Promise<void>;
}

export const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

export const letters = Buffer.from("abcdefgh");
export const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
export const tokens = (count: number, finish: string | null): string =>
  event({
    choices: [{ token_ids: [...letters.subarray(0, count)], finish_reason: finish }],
    usage: { prompt_tokens: 9, completion_tokens: count },
  });

export const answerWell: Answer = (response, body) => {
  const { max_tokens: most } = JSON.parse(body) as { readonly max_tokens: number }; // written by the engine under test
  response.end(tokens(Math.min(most, letters.length), "length") + event("[DONE]"));
};
export const refuse =
  (status: number, body: string): Answer =>
  (response) =>
    void response.writeHead(status).end(body);

export async function open(
  answer: Answer = answerWell,
  port = 0,
  route = "/v1/completions",
  host = "127.0.0.1",
): Promise<Place> {
  const server = createServer((request, response) => {
    if (place.isDown) {
      place.broken += 1;
      return void request.socket.destroy();
    }
    // A gateway may have the same routes behind a path.
    const path = request.url?.replace(/^\/openai/, "");
    if (path === "/v1/models") {
      return void response.end(JSON.stringify({ data: [{ id: "there", max_model_len: 512, ...place.listed }] }));
    }
    // vllm-router asks its workers before it sends them requests.
    if (path === "/health") return void response.end();
    if (path === "/metrics" && place.metrics) return void response.end(place.metrics());
    if (path !== route) return void response.writeHead(404).end('{"detail": "Not Found"}');
    void complete(request, response);
  });
  const complete = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    place.asked += 1;
    const body = await text(request);
    place.requests.push({ path: request.url, headers: request.headers, body });
    place.answer(response, body, request);
  };
  server.listen(port, host);
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port: taken } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    // A client notices closed connections in the next rounds of the event loop. A request before that would fail on one of
    // them.
    await wait(20);
  };
  const url = `http://${host}:${taken}`;
  const place: Place = { url, asked: 0, requests: [], answer, listed: {}, isDown: false, broken: 0, stop };
  closing.push(async () => server.listening && stop());
  return place;
}

export async function start(
  places: readonly Pick<Place, "url">[],
  changes: Partial<RemoteOptions> = {},
): Promise<Engine> {
  const engine = startElsewhere(
    places.map(({ url }) => url),
    { servedName: "there", timings: { ...quickTimings, stallMs: 1500 }, ...changes },
  );
  closing.push(() => engine.close(0));
  await engine.whenReady();
  return engine;
}

/** Returns the whole text of an answer, and its error if it failed. */
export async function ask(engine: Engine, signal = AbortSignal.timeout(5000)): Promise<string> {
  let said = "";
  try {
    for await (const one of oneByOne(stream(engine, requestFor({ maxTokens: 8 }), signal))) {
      if (one.kind === "text") said += one.text;
    }
    return said;
  } catch (error) {
    return error instanceof EngineError ? `${said}(${error.kind})` : String(error);
  }
}
