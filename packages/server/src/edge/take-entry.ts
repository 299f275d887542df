import type { IncomingMessage } from "node:http";
import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { SpentBudget } from "../metering/budget.ts";
import type { BodyBytes } from "../limits/body-bytes.ts";
import { Entry } from "../limits/entry.ts";
import type { Limits } from "../limits/limits.ts";

const maxBodyBytes = contract["x-limits"].maxBodyBytes.value;

export interface EntryDeps {
  /** @throws {ApiError} 503 `service_unavailable` when the server accepts no new requests */
  readonly assertOpen: () => void;
  /** Finds a budget of the caller's key that is used up. */
  readonly findSpentBudget: (caller: Caller) => Promise<SpentBudget | undefined>;
  readonly limits: Limits;
  readonly bodyBytes: BodyBytes;
}

/**
 * The first admission, before the body is read. Checks shutdown, budget, requests per minute, concurrent requests and
 * memory for bodies, in this order. So the server does not read bodies of requests that it cannot serve.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function takeEntry(deps: EntryDeps, req: IncomingMessage, caller: Caller): Promise<Entry> {
  deps.assertOpen();
  const spent = await deps.findSpentBudget(caller);
  if (spent) throw budgetSpent(spent);
  const hold = await deps.limits.take(caller);
  const taken = deps.bodyBytes.take(caller.keyId, declaredBytes(req));
  if (typeof taken === "function") return new Entry(hold, taken);
  await hold.cancel();
  throw taken === "ofKey" ? tooManyBytes() : busy();
}

/** Returns the number of bytes that the body may have. A body without a declared length counts as the maximum. */
function declaredBytes({ headers }: IncomingMessage): number {
  const length = headers["content-length"];
  return length === undefined ? maxBodyBytes : Math.min(Number(length), maxBodyBytes);
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
