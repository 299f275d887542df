import type { Caller } from "../auth/caller.ts";
import type { ServedModel } from "../engines/served-model.ts";
import { ApiError } from "../errors/api-error.ts";
import type { LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { OpenRecord } from "../metering/usage-ledger.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Concurrency } from "./concurrency.ts";
import { Permit } from "./permit.ts";
import type { RateLimits } from "./rate-limits.ts";

/** What a request needs in order to run. */
export interface AdmissionRequest {
  /** Receives at the end what was used. */
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
  readonly recorder: LedgerRecorder;
  /** Whether a key has spent what it may. */
  readonly hasSpentBudget: (caller: Caller) => boolean;
  /** The most completion tokens that a running choice reserves of a token limit. */
  readonly reservedTokens: number;
  readonly nowMs: () => number;
}

/**
 * Admits a request or refuses it: budget, limits, concurrency, queue, ledger, in this order. What was taken before a
 * refusal is released.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(request: AdmissionRequest, deps: AdmissionDeps, signal: AbortSignal): Promise<Permit> {
  const { caller, model, record } = request;
  if (deps.hasSpentBudget(caller)) throw budgetSpent(caller);
  const reservedTokens = request.promptTokens + request.n * Math.min(request.maxTokens, deps.reservedTokens);
  const reservation = deps.limits.reserve(caller, reservedTokens);
  const held = new DisposableStack();
  try {
    held.defer(deps.concurrency.enter(caller));
    deps.assertOpen();
    held.defer(await model.queue.enter(request.n, signal));
    const entry = deps.recorder.open(openRecordOf(request, deps.nowMs()));
    return new Permit(entry, ({ usage, outcome, costUsd }) => {
      held.dispose();
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
      reservation.settle(promptTokens + completionTokens);
      Object.assign(record, { promptTokens, completionTokens, outcome, costUsd });
    });
  } catch (error) {
    held.dispose();
    reservation.cancel();
    throw error;
  }
}

const budgetSpent = ({ budgetUsd }: Caller): ApiError =>
  new ApiError(
    "insufficient_quota",
    `The budget of this key, ${budgetUsd} US dollars, is spent. Ask for a larger one.`,
  );

const openRecordOf = (
  { requestId, caller, model, isStream, promptTokens }: AdmissionRequest,
  startedMs: number,
): OpenRecord => ({
  id: requestId,
  keyId: caller.keyId,
  model: model.id,
  isStream,
  startedMs,
  promptTokens,
  pricing: model.pricing,
});
