import type { Socket } from "node:net";
import { authenticate } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { FindCaller } from "../auth/find-caller.ts";
import type { RunningKeys } from "../auth/running-keys.ts";
import { ApiError } from "../errors/api-error.ts";
import type { Exchange } from "./exchange.ts";

/** Whether a path is the contract's. Other paths take no key. */
export const isUnderContract = (path: string): boolean => /^\/v1(?:[/#]|$)/u.test(path);

export interface KeyDeps {
  readonly findCaller: FindCaller;
  readonly runningKeys: RunningKeys;
  /** A connection that has shown a valid key keeps its place when there are too many. */
  readonly keepPlace: (socket: Socket) => void;
}

/**
 * Finds the caller, and ends the exchange when its key is disabled. It reads headers only, so an unauthenticated client
 * cannot make the server read a body, and learns nothing about the models.
 * @throws {ApiError} 401 `invalid_api_key`
 */
export async function requireKey({ findCaller, runningKeys, keepPlace }: KeyDeps, exchange: Exchange): Promise<Caller> {
  const { req, record } = exchange;
  const caller = await authenticate(req, findCaller);
  keepPlace(req.socket);
  record.keyId = caller.keyId;
  exchange.onClose(runningKeys.add(caller.keyId, (reason) => exchange.end(reason)));
  return caller;
}

/** Holds the header `Expect` to what the server can keep. @throws {ApiError} 417 `invalid_value` */
export function assertExpectation({ req }: Exchange): void {
  const { expect } = req.headers;
  if (expect === undefined || expect.toLowerCase() === "100-continue") return;
  throw new ApiError("invalid_value", "Expect may only ask for 100-continue.", { status: 417 });
}
