import type { Caller } from "../../accounts/keys/caller.ts";
import type { ServedModel } from "../../models/served-model.ts";
import { budgetsOf, costBoundOf } from "../../accounts/money/budgets.ts";
import type { EntryLease, LedgerRecorder } from "../../accounts/ledger/ledger-recorder.ts";
import type { FinalUsage, OpenRecord } from "../../accounts/ledger/usage-ledger.ts";
import type { RequestRecord } from "../../observe/request-record.ts";
import type { Admission } from "./admission.ts";
import type { HeadAdmissionDeps } from "./admit-head.ts";
import { Meter } from "./meter.ts";

/** A request that asks for admission. */
export interface AdmissionRequest {
  /** Has the request id, and receives the usage when the request ends. */
  readonly record: RequestRecord;
  readonly caller: Caller;
  /** The admission that `admitHead` opened. */
  readonly admission: Admission;
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

export interface AdmissionDeps extends HeadAdmissionDeps {
  readonly recorder: LedgerRecorder;
  /** Returns the maximum number of completion tokens that a running choice reserves from the limit of tokens per minute. */
  readonly reservedTokens: () => number;
}

/**
 * The second gate, after the prompt is counted. Extends the admission by tokens of the minute, a ledger entry that holds the
 * maximum cost, and slots, in this order.
 * @returns the meter of the request; its disposal ends the admission
 * @throws {ApiError} 402 `insufficient_quota`, 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(request: AdmissionRequest, deps: AdmissionDeps, signal: AbortSignal): Promise<Meter> {
  const { admission, caller, model, record, promptTokens, n: choices, isMaximumNamed } = request;
  const maxTokens = grantableTokens(request);
  const completionTokens = choices * Math.min(maxTokens, deps.reservedTokens());
  const reservedTokens = promptTokens + completionTokens;
  const { pricing } = model;
  const bound = costBoundOf({ pricing, promptTokens, n: choices, maxTokens, isMaximumNamed });
  const row = openRecord(request, deps.nowMs());
  const open = (): Promise<EntryLease> => deps.recorder.open({ row, bound, budgets: budgetsOf(caller, row.startedMs) });
  const entry = await admission.takeTokensAnd(reservedTokens, open);
  admission.freeBody();
  const { keyId, weight } = caller;
  record.queuedAtMs = performance.now();
  const asked = { keyId, weight, choices, promptTokens, completionTokens };
  const slots = admission.add(await model.queue.enter(asked, signal));
  Object.assign(record, { weight, choices, queueWaitMs: performance.now() - record.queuedAtMs });
  const onEnd = (final: FinalUsage): Promise<void> => {
    record.engineEndedAtMs = performance.now();
    noteUsage(record, final);
    return admission.commit(final);
  };
  const { onFirst } = request;
  const meter = new Meter({ promptTokens, maxTokens: entry.maxTokens, pricing, slots, onFirst, onEnd });
  // A client pays at most for what it has received if the server dies (OPS-19).
  entry.follow(() => (request.isStream ? meter.sentUsage : meter.usage));
  return meter;
}

/** The completion tokens of each choice. A maximum that nobody named is lowered to what the limit can ever grant. */
function grantableTokens({ admission, promptTokens, n, maxTokens, isMaximumNamed }: AdmissionRequest): number {
  if (isMaximumNamed) return maxTokens;
  // At least one, so that a prompt that fills the limit alone is refused with what it needs.
  return Math.max(1, Math.min(maxTokens, Math.floor((admission.tokenLimit - promptTokens) / n)));
}

function noteUsage(record: RequestRecord, { usage, outcome, costUsd }: FinalUsage): void {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage;
  Object.assign(record, { promptTokens, cachedTokens, completionTokens, reasoningTokens, outcome, costUsd });
}

const openRecord = ({ record, caller, model, isStream }: AdmissionRequest, startedMs: number): OpenRecord => {
  const { id: modelId, pricing } = model;
  const { keyId, groups } = caller;
  const groupIds = groups.length === 0 ? undefined : groups.map(({ id }) => id);
  return { id: record.id, keyId, model: modelId, isStream, startedMs, pricing, groupIds };
};
