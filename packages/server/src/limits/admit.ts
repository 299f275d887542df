import type { Caller } from "../auth/caller.ts";
import type { ServedModel } from "../engines/served-model.ts";
import { ApiError } from "../errors/api-error.ts";
import type { Bookkeeper } from "../metering/bookkeeper.ts";
import type { Opening } from "../metering/usage-ledger.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Concurrency } from "./concurrency.ts";
import { Lease } from "./lease.ts";
import type { RateLimits } from "./rate-limits.ts";

/** What a request asks for. */
export interface Ask {
  /** Hears at the end what was used. */
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly caller: Caller;
  readonly model: ServedModel;
  readonly isStream: boolean;
  /** Choices, each of which takes a slot. */
  readonly n: number;
  readonly promptTokens: number;
  /** Of each choice. */
  readonly maxTokens: number;
}

export interface AdmissionDeps {
  /** @throws {ApiError} 503 `service_unavailable` when nothing new is taken */
  readonly assertOpen: () => void;
  readonly limits: RateLimits;
  readonly concurrency: Concurrency;
  readonly books: Bookkeeper;
  /** Whether a key has spent what it may. */
  readonly hasSpentBudget: (caller: Caller) => boolean;
  /** The most completion tokens that a running choice reserves of a token limit. */
  readonly reservedTokens: number;
  readonly nowMs: () => number;
}

/**
 * Admits a request or refuses it: budget, limits, concurrency, queue, ledger, in this order. What was taken before a
 * refusal is given back.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(ask: Ask, deps: AdmissionDeps, signal: AbortSignal): Promise<Lease> {
  const { caller, model, record } = ask;
  if (deps.hasSpentBudget(caller)) throw budgetSpent(caller);
  const reservedTokens = ask.promptTokens + ask.n * Math.min(ask.maxTokens, deps.reservedTokens);
  const reservation = deps.limits.reserve(caller, reservedTokens);
  const places = new DisposableStack();
  try {
    places.defer(deps.concurrency.enter(caller));
    deps.assertOpen();
    places.defer(await model.queue.enter(ask.n, signal));
    const account = deps.books.open(openingOf(ask, deps.nowMs()));
    return new Lease(account, ({ usage, outcome, costUsd }) => {
      places.dispose();
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
      reservation.settle(promptTokens + completionTokens);
      Object.assign(record, { promptTokens, completionTokens, outcome, costUsd });
    });
  } catch (error) {
    places.dispose();
    reservation.cancel();
    throw error;
  }
}

const budgetSpent = ({ budgetUsd }: Caller): ApiError =>
  new ApiError(
    "insufficient_quota",
    `The budget of this key, ${budgetUsd} US dollars, is spent. Ask for a larger one.`,
  );

const openingOf = ({ requestId, caller, model, isStream, promptTokens }: Ask, startedMs: number): Opening => ({
  id: requestId,
  keyId: caller.keyId,
  model: model.id,
  isStream,
  startedMs,
  promptTokens,
  pricing: model.pricing,
});
