import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { buffer, json } from "node:stream/consumers";
import { EngineError } from "../engine.ts";
import type { EngineEvent, Generation, PromptRequest } from "../engine.ts";
import { PromptTooLongError } from "../prompt/prompt-too-long.ts";
import { isShortage } from "../supervision/shortage.ts";
import type { EngineStatus } from "../supervision/status.ts";
import { LineReader } from "../wire/line-reader.ts";
import { tokensHeader } from "./protocol.ts";
import type { ChildEvent, ChildRefusal } from "./protocol.ts";

/** A prompt that an engine process has rendered. */
export interface ChildPrompt {
  readonly tokens: number;
  /** The prompt in a form that only the process reads. */
  readonly text: Buffer;
}

/** The driver's end of the socket. */
export class ChildConnection {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Renders a prompt, which the child does not keep.
   * @throws {PromptTooLongError} {EngineError}, or the signal's reason once it has aborted
   */
  async prepare(request: PromptRequest, signal: AbortSignal): Promise<ChildPrompt> {
    // The other members may be long, and the prompt does not depend on them, so they are not sent.
    const { messages, tools, toolChoice, shownSchema, isReasoning, origin } = request;
    const prompt = { messages, tools, toolChoice, shownSchema, isReasoning, ...(origin && { origin }) };
    const response = await this.#ask("/prepare", signal, Buffer.from(JSON.stringify(prompt)));
    const tokens = Number(response.headers[tokensHeader]);
    if (!Number.isSafeInteger(tokens)) throw new EngineError("protocol", "the engine did not count a prompt");
    return { tokens, text: await reading(buffer(response), signal) };
  }

  /**
   * Yields the events of one generation. Aborting the signal, or leaving the loop, closes the connection and cancels the
   * generation.
   * @param takeText hands over the text of a prompt that `prepare` has rendered
   * @throws {EngineError}, or the signal's reason once it has aborted
   */
  async *generate(
    request: Generation,
    takeText: () => Buffer,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[]> {
    const response = await this.#sendGeneration(request, takeText, signal);
    const lines = new LineReader();
    try {
      // Every chunk of a response without an encoding is bytes.
      for await (const bytes of response as AsyncIterable<Uint8Array>) yield* parseEvents(lines.push(bytes));
      yield* parseEvents(lines.end());
      signal.throwIfAborted();
    } catch (error) {
      throw signal.aborted ? signal.reason : asEngineError(error);
    }
  }

  /** @throws {EngineError}, or the signal's reason once it has aborted */
  async status(signal: AbortSignal): Promise<EngineStatus> {
    const response = await this.#ask("/status", signal);
    // Our own child process wrote this text.
    return (await reading(json(response), signal)) as EngineStatus;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Not a generator, which would keep the text of the prompt in memory until the answer ends. */
  #sendGeneration(request: Generation, takeText: () => Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    const body = Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), takeText()]);
    return this.#ask("/generate", signal, body);
  }

  /**
   * Not an async function, which would keep the body in memory until the response begins.
   * @param body a buffer, because Node would copy a string again to put the head in front of it
   */
  #ask(path: string, signal: AbortSignal, body?: Buffer): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const method = body ? "POST" : "GET";
    const request = httpRequest({ socketPath: this.#socketPath, method, path, agent: this.#agent }, resolve);
    request.on("error", reject);
    // Node's own \`signal\` option also ends an answer whose last byte has been read. Nothing listens to it any more, and its
    // error would end this process.
    const hangUp = (): void => void request.destroy();
    if (signal.aborted) hangUp();
    signal.addEventListener("abort", hangUp);
    request.on("close", () => signal.removeEventListener("abort", hangUp));
    request.end(body);
    return promise.then(
      (response) => whenAccepted(response, signal),
      (error: unknown) => {
        throw signal.aborted ? signal.reason : asEngineError(error);
      },
    );
  }
}

/** @throws {PromptTooLongError} {EngineError} for an answer that is not a 200 */
async function whenAccepted(response: IncomingMessage, signal: AbortSignal): Promise<IncomingMessage> {
  if (response.statusCode === 200) return response;
  // Our own child process wrote this text.
  const { message, param, tokens } = (await reading(json(response), signal)) as ChildRefusal;
  if (response.statusCode === 413 && tokens !== undefined) throw new PromptTooLongError(tokens);
  throw new EngineError(response.statusCode === 400 ? "rejected" : "crashed", message, { param });
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
    throw new SyntaxError(`this is not an event: ${line}`);
  // Our own child process wrote the members.
  return event as EngineEvent;
}

async function reading<T>(content: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await content;
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
