import contract from "@parley/contract/contract.json" with { type: "json" };
import { ApiError } from "../errors/api-error.ts";
import { HangUpError } from "../errors/hang-up.ts";
import type { Exchange, HttpRequest } from "./exchange.ts";
import type { LoopTurns } from "./loop-turns.ts";
import { readInTurns } from "./read-in-turns.ts";
import { onUnreadable } from "./unread-body.ts";

const maxBodyBytes = contract["x-limits"].maxBodyBytes.value;

export interface BodyDeps {
  readonly turns: LoopTurns;
  readonly config: { readonly bodyTimeoutMs: number };
}

/**
 * Reads the bytes of a body. Checks its media type, size and time, in this order. Then waits for the body's turn to be
 * parsed: bodies are parsed one by one, and keys take turns.
 * @throws {ApiError} 400, 408, 413, 415
 * @throws {HangUpError}
 */
export async function readBody({ config, turns }: BodyDeps, exchange: Exchange, keyId: string): Promise<Buffer> {
  // A request that has closed already emits no further `close`, so its disconnect is checked here.
  exchange.signal.throwIfAborted();
  assertMediaType(exchange.req);
  const body = await receive(exchange, config.bodyTimeoutMs, turns);
  await turns.forBody(keyId, body.length, exchange.signal);
  return body;
}

/**
 * Refuses all bodies but JSON in UTF-8, and normalizes the header: express-openapi-validator keeps one validator per
 * spelling.
 */
function assertMediaType(req: HttpRequest): void {
  const type = req.headers["content-type"] ?? "";
  const isJson = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?;?[ \t]*$/i.test(type);
  const coding = req.headers["content-encoding"];
  if (!isJson) {
    const given = type === "" ? "absent" : type.slice(0, 100);
    throw new ApiError("unsupported_media_type", `Content-Type must be application/json in UTF-8, and is ${given}.`);
  }
  if (coding !== undefined && coding.toLowerCase() !== "identity")
    throw new ApiError("unsupported_media_type", "Send the body uncompressed, without the header Content-Encoding.");
  req.headers["content-type"] = "application/json";
}

/**
 * Collects the chunks of a body. A chunk may hold a single byte but takes some hundred bytes of memory, so every 1024 are
 * joined.
 */
class Chunks {
  readonly #joined: Buffer[] = [];
  #latest: Buffer[] = [];
  size = 0;

  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.#latest.push(chunk);
    if (this.#latest.length < 1024) return;
    this.#joined.push(Buffer.concat(this.#latest));
    this.#latest = [];
  }

  join(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#latest]);
  }
}

/**
 * Ignores errors after the body was received. Declared outside of `receive`, so it does not keep the body alive
 * (docs/request-path.md, "Memory of a request").
 */
const ignore = (): void => undefined;

async function receive({ req, res }: Exchange, timeoutMs: number, turns: LoopTurns): Promise<Buffer> {
  if (Number(req.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge();
  if (req.headers.expect !== undefined) res.writeContinue();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks = new Chunks();
  const listeners = {
    data: (chunk: Buffer): void => {
      chunks.add(chunk);
      if (chunks.size > maxBodyBytes) reject(tooLarge());
    },
    end: (): void => resolve(chunks.join()),
    close: (): void => void (req.readableEnded || reject(new HangUpError())),
    error: (): void => reject(new HangUpError()),
  };
  const timer = setTimeout(() => reject(tooSlow(timeoutMs)), timeoutMs);
  const stopListening = onUnreadable(req, reject);
  for (const [event, listener] of Object.entries(listeners)) req.on(event, listener);
  readInTurns(req, turns);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stopListening();
    for (const [event, listener] of Object.entries(listeners)) req.removeListener(event, listener);
    req.on("error", ignore);
  }
}

const tooLarge = (): ApiError =>
  new ApiError("request_too_large", `The body is larger than ${maxBodyBytes} bytes. Send fewer or shorter messages.`);

const tooSlow = (timeoutMs: number): ApiError =>
  new ApiError("request_timeout", `The body did not arrive within ${timeoutMs / 1000} seconds. Send it at once.`);
