import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { authenticate } from "../auth/authenticate.ts";
import type { FindCaller } from "../auth/find-caller.ts";
import type { Caller } from "../auth/caller.ts";
import type { RunningKeys } from "../auth/running-keys.ts";
import { ApiError } from "../errors/api-error.ts";
import { contextOf } from "./request-context.ts";
import { pathOf } from "./stage.ts";
import type { Stage } from "./stage.ts";

const callers = new WeakMap<ServerResponse, Caller>();

/** The caller whose request this response answers. The request has passed authentication. */
export function callerOf(response: ServerResponse): Caller {
  const caller = findCallerOf(response);
  if (!caller) throw new Error("a stage ran before authentication");
  return caller;
}

/** The caller whose request this response answers; undefined before authentication, and when it has failed. */
export const findCallerOf = (response: ServerResponse): Caller | undefined => callers.get(response);

/** Whether a path is the contract's. What is served beside it takes no key. */
const isUnderContract = (path: string): boolean => /^\/v1(?:[/#]|$)/u.test(path);

export interface KeyDeps {
  readonly findCaller: FindCaller;
  readonly runningKeys: RunningKeys;
  /** A connection that has shown a valid key keeps its place when there are too many. */
  readonly keepPlace: (socket: Socket) => void;
}

/** Reads headers only. An unauthenticated client cannot make the server read a body, and learns nothing of what is served. */
export function requireKey({ findCaller, runningKeys, keepPlace }: KeyDeps): Stage {
  return async function requireKey(req, res) {
    if (!isUnderContract(pathOf(req))) return;
    const caller = await authenticate(req.rawHeaders, findCaller);
    callers.set(res, caller);
    keepPlace(req.socket);
    const { record, end } = contextOf(res);
    record.keyId = caller.keyId;
    // A response that is closed emits no further `close`, so its request would never be removed.
    if (!res.destroyed) res.on("close", runningKeys.add(caller.keyId, end));
    assertExpectation(req.headers.expect);
  };
}

function assertExpectation(expect: string | undefined): void {
  if (expect === undefined || expect.toLowerCase() === "100-continue") return;
  throw new ApiError("invalid_value", "Expect may only ask for 100-continue.", { status: 417 });
}
