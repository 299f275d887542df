import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../../accounts/keys/caller.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { UsageLedger } from "../../accounts/ledger/usage-ledger.ts";
import { assertUnspent } from "../../accounts/money/budget-refusals.ts";
import { Admission } from "./admission.ts";
import type { BodyBytes } from "./body-bytes.ts";
import type { Limits } from "../../accounts/limits/limits.ts";

const maxBodyBytes = contract["x-limits"].maxBodyBytes.value;

export interface HeadAdmissionDeps {
  /** @throws {ApiError} 503 `service_unavailable` when the server accepts no new requests */
  readonly assertOpen: () => void;
  readonly ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">;
  readonly limits: Limits;
  readonly bodyBytes: BodyBytes;
  readonly nowMs: () => number;
}

/**
 * Checks a request before its body is read, so the server reads no bodies of requests that it cannot serve. In this order, it
 * checks shutdown, budget, requests per minute, concurrent requests and memory for bodies. It does not check the budget of a
 * request with an `Idempotency-Key`.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admitHead(
  { assertOpen, ledger, limits, bodyBytes, nowMs }: HeadAdmissionDeps,
  headers: IncomingHttpHeaders,
  caller: Caller,
): Promise<Admission> {
  assertOpen();
  // A kept answer costs nothing, so a spent budget must not withhold it. A request that runs is checked after its claim.
  const mayBeFree = headers["idempotency-key"] !== undefined;
  const unspent = mayBeFree ? undefined : assertUnspent(caller, ledger, nowMs());
  // Two stores are asked at the same time. A spent budget is told first, and then the limits get everything back.
  const [budget, limit] = await Promise.allSettled([unspent, limits.take(caller)]);
  if (limit.status === "rejected") throw budget.status === "rejected" ? budget.reason : limit.reason;
  const taken = limit.value;
  try {
    if (budget.status === "rejected") throw budget.reason;
    return new Admission(taken, bodyBytes.take(caller.keyId, declaredBytes(headers)));
  } catch (error) {
    await taken.rollback();
    throw error;
  }
}

/** Returns the number of bytes that the body may have. A body without a declared length counts as the maximum. */
function declaredBytes(headers: IncomingHttpHeaders): number {
  const length = headers["content-length"];
  return length === undefined ? maxBodyBytes : Math.min(Number(length), maxBodyBytes);
}
