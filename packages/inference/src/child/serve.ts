import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import type { EngineEvent, Generation, PromptRequest } from "../engine.ts";
import { parseJsonWith } from "@parley/json-schema-grammar/json";
import { PromptTooLongError } from "../prompt/prompt-too-long.ts";
import { RequestRefusedError } from "../request-refused.ts";
import type { StatusMessage, EngineStatus } from "../supervision/status.ts";
import { tokensHeader } from "./protocol.ts";
import type { ChildEvent, ChildRefusal } from "./protocol.ts";
import { ResponseWriter } from "./response-writer.ts";

/**
 * The functions of an engine process. `embedded` and `scripted` each implement them. A prompt is a value of the core's own, which
 * survives JSON: the driver keeps it between `prepare` and `generate`.
 */
export interface EngineCore<Prompt> {
  /**
   * Renders and counts a prompt.
   * @throws {RequestRefusedError}, or {PromptTooLongError} where the count would not be exact
   */
  prepare(request: PromptRequest, signal: AbortSignal): Promise<{ readonly tokens: number; readonly prompt: Prompt }>;
  /** @param prompt has been prepared, and fits the context together with the request's `maxTokens` */
  generate(
    prompt: Prompt,
    request: Generation,
    signal: AbortSignal,
    writer: ResponseWriter,
  ): AsyncIterable<readonly EngineEvent[]>;
  status(): Omit<EngineStatus, "aborted">;
}

/** Reports to the supervisor, on standard output. */
export function sendStatus(message: StatusMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Serves an engine on a unix socket until the process ends. */
export async function serveEngine<Prompt>(core: EngineCore<Prompt>, socketPath: string): Promise<Server> {
  let aborted = 0;
  const server = createServer((request, response) => {
    const hangUp = whenReaderDisconnects(response);
    const status = (): EngineStatus => ({ ...core.status(), aborted });
    const onAbort = (): void => {
      aborted += 1;
    };
    text(request)
      .then((body) => route(core, body, { request, response, hangUp, onAbort, status }))
      .catch((error: unknown) => fail(response, error));
  });
  server.keepAliveTimeout = 0;
  server.listen(socketPath);
  await once(server, "listening");
  // A connection could not be accepted. Only its request fails, and the engine goes on.
  server.on("error", (error) => process.stderr.write(`${describe(error)}\n`));
  return server;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the reader disconnects before the end. */
  readonly hangUp: AbortSignal;
  readonly onAbort: () => void;
  readonly status: () => EngineStatus;
}

/** Must be registered at once: a reader may disconnect while its request is still being read. */
function whenReaderDisconnects(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) hangUp.abort();
  });
  return hangUp.signal;
}

/** Not an async function, which would keep the body in memory until the answer ends. */
function route<Prompt>(core: EngineCore<Prompt>, body: string, exchange: Exchange): Promise<void> | void {
  const { request, response, status } = exchange;
  if (request.url === "/status") return sendJson(response, 200, status());
  // Our own driver wrote this text.
  if (request.url === "/prepare") return prepare(core, readRequest(body) as PromptRequest, exchange);
  return generate(core, body, exchange);
}

const readRequest = (body: string): unknown => parseJsonWith(body, ["tools.*.parameters", "format.schema"]);

async function prepare<Prompt>(core: EngineCore<Prompt>, request: PromptRequest, exchange: Exchange): Promise<void> {
  const { tokens, prompt } = await core.prepare(request, exchange.hangUp);
  sendJson(exchange.response, 200, prompt, { [tokensHeader]: tokens });
}

function generate<Prompt>(core: EngineCore<Prompt>, body: string, exchange: Exchange): Promise<void> {
  const end = body.indexOf("\n");
  // The driver has kept this text for the core, which wrote it.
  const prompt = JSON.parse(body.slice(end)) as Prompt;
  // Our own driver wrote this text.
  const request = readRequest(body.slice(0, end)) as Generation;
  return writeEvents((writer) => core.generate(prompt, request, exchange.hangUp, writer), exchange);
}

/** Writes events as fast as the reader takes them; a reader that disconnects stops the generation. */
async function writeEvents(
  begin: (writer: ResponseWriter) => AsyncIterable<readonly EngineEvent[]>,
  { response, hangUp, onAbort }: Exchange,
): Promise<void> {
  const writer = new ResponseWriter(response, hangUp);
  try {
    for await (const events of begin(writer)) {
      if (hangUp.aborted) break;
      await writer.write(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    }
    response.end();
  } catch (error) {
    if (!hangUp.aborted) failGeneration(response, error);
  } finally {
    if (hangUp.aborted) onAbort();
  }
}

function failGeneration(response: ServerResponse, error: unknown): void {
  if (!response.headersSent) throw error;
  process.stderr.write(`${describe(error)}\n`);
  response.end(`${JSON.stringify({ kind: "failed", message: messageOf(error) } satisfies ChildEvent)}\n`);
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  if (error instanceof PromptTooLongError) {
    const { message, tokens } = error;
    return sendJson(response, 413, { message, tokens } satisfies ChildRefusal);
  }
  if (error instanceof RequestRefusedError) {
    const { message, param } = error;
    return sendJson(response, 400, { message, param } satisfies ChildRefusal);
  }
  process.stderr.write(`${describe(error)}\n`);
  sendJson(response, 500, { message: messageOf(error) } satisfies ChildRefusal);
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
