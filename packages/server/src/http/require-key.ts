import type { Socket } from "node:net";
import { sourceOf } from "../accounts/audit/audit-log.ts";
import type { AuditRecord } from "../accounts/audit/audit-log.ts";
import { authenticate } from "../accounts/keys/authenticate.ts";
import type { Caller } from "../accounts/keys/caller.ts";
import type { FindCaller } from "../accounts/keys/find-caller.ts";
import type { RunningKeys } from "../accounts/keys/running-keys.ts";
import { ApiError } from "../errors/api-error.ts";
import type { Exchange } from "./exchange.ts";

/** Checks whether a path is below `/v1`. Other paths need no key. */
export const isUnderContract = (path: string): boolean => /^\/v1(?:[/#]|$)/u.test(path);

export interface KeyDeps {
  readonly findCaller: FindCaller;
  readonly runningKeys: RunningKeys;
  /**
   * Marks a connection as authenticated: when there are too many connections, no newcomer takes its place while it is in
   * use.
   */
  readonly keepPlace: (socket: Socket) => void;
}

/**
 * Finds the caller, and ends the exchange if its key is disabled while it runs. It reads only headers, so an
 * unauthenticated client cannot make the server read a body and learns nothing about the models.
 * @throws {ApiError} 401 `invalid_api_key`
 */
export async function requireKey({ findCaller, runningKeys, keepPlace }: KeyDeps, exchange: Exchange): Promise<Caller> {
  const { req, record } = exchange;
  const from = (): AuditRecord["from"] => sourceOf(record.client, exchange.header("user-agent"));
  const caller = await authenticate(req, (token) => findCaller(token, from));
  keepPlace(req.socket);
  record.keyId = caller.keyId;
  exchange.onClose(runningKeys.add(caller.keyId, (reason) => exchange.end(reason)));
  return caller;
}

/** Refuses a header `Expect` that asks for anything but `100-continue`. @throws {ApiError} 417 `invalid_value` */
export function assertExpectation({ req }: Exchange): void {
  const { expect } = req.headers;
  if (expect === undefined || expect.toLowerCase() === "100-continue") return;
  throw new ApiError("invalid_value", "The header Expect may only have the value 100-continue.", { status: 417 });
}
