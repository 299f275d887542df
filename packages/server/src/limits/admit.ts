import type { Caller } from "../auth/caller.ts";
import type { ServedModel } from "../engines/served-model.ts";
import { ApiError } from "../errors/api-error.ts";
import type { SpentBudget } from "../metering/budget.ts";
import type { AdmittedRequest, LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Limits } from "./limits.ts";
import { Permit } from "./permit.ts";

/** A request that asks for admission. */
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
  readonly limits: Limits;
  readonly recorder: LedgerRecorder;
  /** The budget of a key that is used up, if one is. */
  readonly findSpentBudget: (caller: Caller) => Promise<SpentBudget | undefined>;
  /** The most completion tokens that a running choice reserves of a token limit. */
  readonly reservedTokens: number;
  readonly nowMs: () => number;
}

/**
 * Admits a request or refuses it: budget, limits, queue, ledger, in this order. What was taken before a refusal is
 * released.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(request: AdmissionRequest, deps: AdmissionDeps, signal: AbortSignal): Promise<Permit> {
  const { caller, model, record } = request;
  const spent = await deps.findSpentBudget(caller);
  if (spent) throw budgetSpent(spent);
  const reservedTokens = request.promptTokens + request.n * Math.min(request.maxTokens, deps.reservedTokens);
  const hold = await deps.limits.take(caller, reservedTokens);
  const slots = new DisposableStack();
  try {
    deps.assertOpen();
    slots.defer(await model.queue.enter(request.n, signal));
    const entry = await deps.recorder.open(admitted(request, deps.nowMs()));
    return new Permit(entry, ({ usage, outcome, costUsd }) => {
      slots.dispose();
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
      Object.assign(record, { promptTokens, completionTokens, outcome, costUsd });
      return hold.settle(promptTokens + completionTokens);
    });
  } catch (error) {
    slots.dispose();
    await hold.cancel();
    throw error;
  }
}

function budgetSpent({ amountUsd, renewsMs }: SpentBudget): ApiError {
  const message =
    renewsMs === undefined
      ? `The budget of this key, ${amountUsd} US dollars, is spent. Ask the operator for a larger one.`
      : `The monthly budget of this key, ${amountUsd} US dollars, is spent. It starts again on ${new Date(renewsMs).toISOString().slice(0, 10)} (UTC), or ask the operator for a larger one.`;
  return new ApiError("insufficient_quota", message);
}

const admitted = (request: AdmissionRequest, startedMs: number): AdmittedRequest => ({
  id: request.requestId,
  keyId: request.caller.keyId,
  model: request.model.id,
  isStream: request.isStream,
  startedMs,
  promptTokens: request.promptTokens,
  pricing: request.model.pricing,
});
