import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { EngineError } from "../engine.ts";
import type { EngineEvent, EngineRequest, PromptRequest } from "../engine.ts";
import { isShortage } from "../sidecar/shortage.ts";
import type { EngineStatus } from "../sidecar/status.ts";
import { LineReader } from "../wire/line-reader.ts";
import type { ChildEvent, ChildRefusal } from "./protocol.ts";

/** The driver's end of the socket. */
export class ChildConnection {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Yields the events of one generation. Aborting the signal, or leaving the loop, closes the connection and cancels the
   * generation.
   * @throws {EngineError}, or the signal's reason once it has aborted
   */
  async *generate(request: EngineRequest, signal: AbortSignal): AsyncGenerator<readonly EngineEvent[]> {
    const response = await this.#ask("POST", "/generate", request, signal);
    const lines = new LineReader();
    try {
      // Every chunk of a response without an encoding is bytes.
      for await (const bytes of response as AsyncIterable<Uint8Array>) yield* parseEvents(lines.push(bytes));
      yield* parseEvents(lines.end());
    } catch (error) {
      throw signal.aborted ? signal.reason : asEngineError(error);
    }
  }

  /** @throws {EngineError}, or the signal's reason once it has aborted */
  async countTokens(request: PromptRequest, signal: AbortSignal): Promise<number> {
    // The other members may be long, and the count does not depend on them, so they are not sent.
    const { messages, tools, toolChoice, shownSchema, isReasoning, origin } = request;
    const prompt = { messages, tools, toolChoice, shownSchema, isReasoning, ...(origin && { origin }) };
    // Our own child process wrote this text.
    const answer = (await this.#askJson("POST", "/count", prompt, signal)) as { readonly promptTokens: number };
    return answer.promptTokens;
  }

  /** @throws {EngineError}, or the signal's reason once it has aborted */
  async status(signal: AbortSignal): Promise<EngineStatus> {
    // Likewise.
    return (await this.#askJson("GET", "/status", undefined, signal)) as EngineStatus;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #askJson(
    method: string,
    path: string,
    body: EngineRequest | PromptRequest | undefined,
    signal: AbortSignal,
  ): Promise<unknown> {
    const response = await this.#ask(method, path, body, signal);
    return readJson(response, signal);
  }

  async #ask(
    method: string,
    path: string,
    body: EngineRequest | PromptRequest | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const response = await this.#send(method, path, body, signal).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : asEngineError(error);
    });
    if (response.statusCode === 200) return response;
    // Likewise.
    const { message, param } = (await readJson(response, signal)) as ChildRefusal;
    throw new EngineError(response.statusCode === 400 ? "rejected" : "crashed", message, { param });
  }

  #send(
    method: string,
    path: string,
    body: EngineRequest | PromptRequest | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = httpRequest({ socketPath: this.#socketPath, method, path, agent: this.#agent, signal }, resolve);
    request.on("error", reject);
    // A buffer, because Node would copy a string again to put the head in front of it.
    request.end(body && Buffer.from(JSON.stringify(body)));
    return promise;
  }
}

/** Yields at most one batch. Events that came before a failure are passed on first. */
function* parseEvents(lines: readonly string[]): Generator<readonly EngineEvent[]> {
  const events: EngineEvent[] = [];
  try {
    for (const line of lines) events.push(parseEvent(line));
  } finally {
    if (events.length > 0) yield events;
  }
}

/** @throws {SyntaxError} for a line that is not an event @throws {EngineError} for a generation that has failed */
function parseEvent(line: string): EngineEvent {
  // The value is not checked yet. The type only names the members that are looked for.
  const event = JSON.parse(line) as Partial<ChildEvent> | null;
  if (event?.kind === "failed") throw new EngineError("crashed", event.message ?? "the engine failed");
  if (typeof event?.kind !== "string" || !("choice" in event || "usage" in event))
    throw new SyntaxError(`this is no event: ${line}`);
  // Our own child process wrote the members.
  return event as EngineEvent;
}

async function readJson(response: IncomingMessage, signal: AbortSignal): Promise<unknown> {
  try {
    return await json(response);
  } catch (error) {
    throw signal.aborted ? signal.reason : asEngineError(error);
  }
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof SyntaxError)
    return new EngineError("protocol", "the engine wrote a broken line", { cause: error });
  if (isShortage(error)) return new EngineError("unavailable", "the engine could not be asked", { cause: error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isAbsent = code === "ECONNREFUSED" || code === "ENOENT";
  const message = isAbsent ? "the engine is not running" : "the engine broke the connection";
  return new EngineError(isAbsent ? "unavailable" : "crashed", message, { cause: error });
}
