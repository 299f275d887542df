import type { Caller } from "../auth/caller.ts";
import type { ServedModel } from "../engines/served-model.ts";
import { ApiError } from "../errors/api-error.ts";
import type { AdmittedRequest, LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { Reservation, Reservations, Shortfall } from "../metering/reservations.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Entry } from "./entry.ts";
import { exceeded } from "./limits.ts";
import { Permit } from "./permit.ts";

/** A request that asks for admission. */
export interface AdmissionRequest {
  /** Receives the usage when the request ends. */
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly caller: Caller;
  /** The entry that `takeEntry` returned when the head was read. */
  readonly entry: Entry;
  readonly model: ServedModel;
  readonly isStream: boolean;
  /** Number of choices, each of which takes a slot. */
  readonly n: number;
  readonly promptTokens: number;
  /** Maximum number of completion tokens of each choice. */
  readonly maxTokens: number;
  /** True if the caller set `maxTokens`, false if it is a default. */
  readonly isMaximumNamed: boolean;
  /** Called with the first event of the engine. */
  readonly onFirst: () => void;
}

export interface AdmissionDeps {
  readonly recorder: LedgerRecorder;
  readonly reservations: Reservations;
  /** Maximum number of completion tokens that a running choice reserves from the limit of tokens per minute. */
  readonly reservedTokens: number;
  readonly nowMs: () => number;
}

/**
 * The second admission, after the prompt is counted. Takes tokens of the minute, money, slots and a ledger entry, in this
 * order.
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(request: AdmissionRequest, deps: AdmissionDeps, signal: AbortSignal): Promise<Permit> {
  const { model, record, entry } = request;
  const maxTokens = grantableTokens(request);
  const completionTokens = request.n * Math.min(maxTokens, deps.reservedTokens);
  const reservedTokens = request.promptTokens + completionTokens;
  const shortage = await entry.takeTokens(reservedTokens);
  if (shortage) throw exceeded(shortage, reservedTokens);
  const reservation = await reserve({ ...request, maxTokens }, deps.reservations);
  entry.freeBody();
  using undo = new DisposableStack();
  undo.defer(() => reservation.cancel());
  const { caller, promptTokens, n: choices } = request;
  const { keyId, weight } = caller;
  const askedMs = performance.now();
  const slots = await model.queue.enter({ keyId, weight, choices, promptTokens, completionTokens }, signal);
  undo.defer(() => slots.release(0));
  Object.assign(record, { weight, queueWaitMs: performance.now() - askedMs });
  const running = await deps.recorder.open(admitted(request, deps.nowMs()));
  undo.move(); // admitted: the permit releases everything from here on
  const held = { entry: running, slots, maxTokens: reservation.maxTokens, onFirst: request.onFirst };
  return new Permit(held, ({ usage, outcome, costUsd, recorded }) => {
    slots.release(usage.completionTokens);
    reservation.settle(costUsd, recorded);
    const used = { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens };
    Object.assign(record, { ...used, outcome, costUsd });
    return entry.settle(used.promptTokens + used.completionTokens);
  });
}

/** The completion tokens of each choice. A maximum that nobody named is lowered to what the limit can ever grant. */
function grantableTokens({ entry, promptTokens, n, maxTokens, isMaximumNamed }: AdmissionRequest): number {
  if (isMaximumNamed) return maxTokens;
  // At least one, so that a prompt that fills the limit alone is refused with what it needs.
  return Math.max(1, Math.min(maxTokens, Math.floor((entry.tokenLimit - promptTokens) / n)));
}

/** @throws {ApiError} 402 `insufficient_quota` */
async function reserve(request: AdmissionRequest, reservations: Reservations): Promise<Reservation> {
  const { caller, model, promptTokens, n, maxTokens, isMaximumNamed } = request;
  const use = { pricing: model.pricing, promptTokens, n, maxTokens, isMaximumNamed };
  const taken = await reservations.reserve(caller, use);
  if ("neededUsd" in taken) throw tooExpensive(taken);
  return taken;
}

function tooExpensive({ neededUsd, remainingUsd, heldUsd }: Shortfall): ApiError {
  const held =
    heldUsd === "0" ? "" : ` Running requests hold ${heldUsd}; what they do not use comes back when they end.`;
  const message = `This request may cost ${neededUsd} US dollars, and ${remainingUsd} of the key's budget is left.${held} Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.`;
  return new ApiError("insufficient_quota", message, {
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
  });
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
