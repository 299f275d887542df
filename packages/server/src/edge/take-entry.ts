import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";
import contract from "../generated/contract.json" with { type: "json" };
import type { SpentBudget } from "../metering/budget.ts";
import type { BodyBytes } from "../limits/body-bytes.ts";
import { Entry } from "../limits/entry.ts";
import type { Limits } from "../limits/limits.ts";
import { contextOf } from "./request-context.ts";
import { callerOf } from "./require-key.ts";
import type { Stage } from "./stage.ts";

const maxBodyBytes = contract["x-limits"].maxBodyBytes.value;

export interface EntryDeps {
  /** @throws {ApiError} 503 `service_unavailable` when nothing new is taken */
  readonly assertOpen: () => void;
  /** The budget of a key that is used up, if one is. */
  readonly findSpentBudget: (caller: Caller) => Promise<SpentBudget | undefined>;
  readonly limits: Limits;
  readonly bodyBytes: BodyBytes;
}

const entries = new WeakMap<ServerResponse, Entry>();

/** What the request of a response holds that has a body. */
export function entryOf(response: ServerResponse): Entry {
  const entry = entries.get(response);
  if (!entry) throw new Error("a stage ran before the request had its entry");
  return entry;
}

/**
 * The first gate, in front of the body: shutdown, budget, requests a minute, requests at the same time, bytes of bodies. What
 * cannot be served costs neither memory nor time to read. Operations without a body pass, and count against nothing.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export function takeEntry(deps: EntryDeps): Stage {
  return async function takeEntry(req, res) {
    if (req.method === "POST") {
      const caller = callerOf(res);
      const entry = await enter(req, caller, deps);
      entries.set(res, entry);
      // The operation may go on after the client disconnected. What has ended before is not ended again.
      const settle = (): Promise<void> => entry.settle(0);
      const onClose = (): void => void contextOf(res).work.then(settle, settle);
      // A response that is closed emits no further `close`, so what its request holds would be lost.
      if (res.destroyed) onClose();
      else res.on("close", onClose);
    }
  };
}

async function enter(req: IncomingMessage, caller: Caller, deps: EntryDeps): Promise<Entry> {
  deps.assertOpen();
  const spent = await deps.findSpentBudget(caller);
  if (spent) throw budgetSpent(spent);
  const hold = await deps.limits.take(caller);
  const taken = deps.bodyBytes.take(caller.keyId, declaredBytes(req));
  if (typeof taken === "function") return new Entry(hold, taken);
  await hold.cancel();
  throw taken === "ofKey" ? tooManyBytes() : busy();
}

/** A body of unknown length may be as long as the longest. A longer one is refused before it is read. */
function declaredBytes({ headers }: IncomingMessage): number {
  const length = headers["content-length"];
  return length === undefined ? maxBodyBytes : Math.min(Number(length), maxBodyBytes);
}

const statusesOfService = new Set([402, 429, 503]);

/** A request that the service could not take, through no fault of its own, gets back what it had taken. */
export async function cancelEntry(thrown: unknown, res: ServerResponse): Promise<void> {
  if (thrown instanceof ApiError && statusesOfService.has(thrown.status)) await entries.get(res)?.cancel();
}

function budgetSpent({ amountUsd, renewsMs }: SpentBudget): ApiError {
  const message =
    renewsMs === undefined
      ? `The budget of this key, ${amountUsd} US dollars, is spent. Ask the operator for a larger one.`
      : `The monthly budget of this key, ${amountUsd} US dollars, is spent. It starts again on ${new Date(renewsMs).toISOString().slice(0, 10)} (UTC), or ask the operator for a larger one.`;
  return new ApiError("insufficient_quota", message);
}

const tooManyBytes = (): ApiError =>
  new ApiError(
    "rate_limit_exceeded",
    "This key sends too many large bodies at the same time. Wait for some to be read.",
    {
      details: { limit: "bytes" },
      retryAfterMs: 1000,
    },
  );

const busy = (): ApiError =>
  new ApiError("capacity_exhausted", "Too many large bodies arrive at the same time. Try again in a moment.", {
    retryAfterMs: 1000,
  });
