import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { EngineEvent, EngineRequest, PromptRequest } from "../engine.ts";
import { parseJsonWith } from "@parley/json-schema-grammar/json";
import { RequestRefusedError } from "../request-refused.ts";
import type { StatusMessage, EngineStatus } from "../sidecar/status.ts";
import type { ChildEvent, ChildRefusal } from "./protocol.ts";
import { ResponseWriter } from "./response-writer.ts";

/** The functions of an engine process. `embedded` and `scripted` each implement them. */
export interface EngineCore {
  generate(request: EngineRequest, signal: AbortSignal, writer: ResponseWriter): AsyncIterable<readonly EngineEvent[]>;
  countTokens(request: PromptRequest, signal: AbortSignal): Promise<number>;
  status(): Omit<EngineStatus, "aborted">;
}

/** Reports to the supervisor, on standard output. */
export function sendStatus(message: StatusMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Serves an engine on a unix socket until the process ends. */
export async function serveEngine(core: EngineCore, socketPath: string): Promise<Server> {
  let aborted = 0;
  const server = createServer((request, response) => {
    const hangUp = whenReaderDisconnects(response);
    const status = (): EngineStatus => ({ ...core.status(), aborted });
    const onAbort = (): void => {
      aborted += 1;
    };
    route(core, { request, response, hangUp, onAbort, status }).catch((error: unknown) => fail(response, error));
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

async function route(core: EngineCore, exchange: Exchange): Promise<void> {
  const { request, response, hangUp, status } = exchange;
  if (request.url === "/status") return sendJson(response, 200, status());
  // Our own driver wrote this text.
  const generation = parseJsonWith(await text(request), ["tools.*.parameters", "format.schema"]) as EngineRequest;
  if (request.url === "/count") {
    return sendJson(response, 200, { promptTokens: await core.countTokens(generation, hangUp) });
  }
  await generate(core, generation, exchange);
}

/** Writes events as fast as the reader takes them; a reader that disconnects stops the generation. */
async function generate(
  core: EngineCore,
  generation: EngineRequest,
  { response, hangUp, onAbort }: Exchange,
): Promise<void> {
  const writer = new ResponseWriter(response, hangUp);
  try {
    for await (const events of core.generate(generation, hangUp, writer)) {
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
  if (error instanceof RequestRefusedError) {
    const { message, param } = error;
    return sendJson(response, 400, { message, param } satisfies ChildRefusal);
  }
  process.stderr.write(`${describe(error)}\n`);
  sendJson(response, 500, { message: messageOf(error) } satisfies ChildRefusal);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
