import type { IncomingMessage } from "node:http";
import type { ApiError } from "../errors/api-error.ts";
import type { Exchange, HttpRequest } from "./exchange.ts";
import type { LoopTurns } from "./loop-turns.ts";
import { readInTurns } from "./read-in-turns.ts";

/** Notes that the rest of the body cannot be read as HTTP. */
export function markUnreadable(req: HttpRequest, fault: ApiError): void {
  req.bodyFault = fault;
  req.emit("unreadable", fault);
}

/**
 * Calls the listener with the fault that makes the body unreadable, now or when it is found.
 * @returns a function that stops listening
 */
export function onUnreadable(req: HttpRequest, listener: (fault: ApiError) => void): () => void {
  if (req.bodyFault) listener(req.bodyFault);
  req.on("unreadable", listener);
  return () => req.removeListener("unreadable", listener);
}

/** Milliseconds for which the rest of a body is discarded after its answer. */
const lingerMs = 2000;

/** Checks whether more bytes of the request's body may arrive. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  const { "transfer-encoding": coding, "content-length": length = "0" } = req.headers;
  return !req.complete && (coding !== undefined || Number(length) > 0);
}

/**
 * Checks whether no step reads the body of a request. The listener discards such a body, and closes the connection after
 * the answer.
 */
export const isNeverRead = (req: IncomingMessage): boolean => req.method !== "POST" && hasUnreadBody(req);

/**
 * Answers a request whose body is not read to its end. Closing the connection at once would reset it while the client still
 * sends, and the answer would be lost. So the rest of the body is discarded for a while before the connection is closed.
 */
export function answerEarly(exchange: Exchange, body: Buffer, turns: LoopTurns): void {
  const { req, res } = exchange;
  res.setHeader("connection", "close");
  res.write(body);
  const end = (): void => void res.end();
  const timer = setTimeout(end, lingerMs);
  exchange.onClose(() => clearTimeout(timer));
  req.once("close", end);
  if (!isNeverRead(req)) readInTurns(req, turns);
  req.resume();
}
