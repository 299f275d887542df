import type { Caller } from "../auth/caller.ts";
import type { ServedModel } from "../engines/served-model.ts";
import type { AdmittedRequest, LedgerRecorder } from "../metering/ledger-recorder.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Entry } from "./entry.ts";
import { exceeded } from "./limits.ts";
import { Permit } from "./permit.ts";

/** A request that asks for admission. */
export interface AdmissionRequest {
  /** Receives at the end what was used. */
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly caller: Caller;
  /** What the request has held since its head was read. */
  readonly entry: Entry;
  readonly model: ServedModel;
  readonly isStream: boolean;
  /** Choices, each of which takes a slot. */
  readonly n: number;
  readonly promptTokens: number;
  /** Of each choice. */
  readonly maxTokens: number;
}

export interface AdmissionDeps {
  readonly recorder: LedgerRecorder;
  /** The most completion tokens that a running choice reserves of a token limit. */
  readonly reservedTokens: number;
  readonly nowMs: () => number;
}

/**
 * The second gate, once the prompt is counted: tokens a minute, queue, ledger, in this order.
 * @throws {ApiError} 429 `rate_limit_exceeded` or `capacity_exhausted`, 503 `service_unavailable`
 */
export async function admit(request: AdmissionRequest, deps: AdmissionDeps, signal: AbortSignal): Promise<Permit> {
  const { model, record, entry } = request;
  const reservedTokens = request.promptTokens + request.n * Math.min(request.maxTokens, deps.reservedTokens);
  const shortage = await entry.takeTokens(reservedTokens);
  if (shortage) throw exceeded(shortage, reservedTokens);
  entry.freeBody();
  const slots = new DisposableStack();
  try {
    slots.defer(await model.queue.enter(request.n, signal));
    const running = await deps.recorder.open(admitted(request, deps.nowMs()));
    return new Permit(running, ({ usage, outcome, costUsd }) => {
      slots.dispose();
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
      Object.assign(record, { promptTokens, completionTokens, outcome, costUsd });
      return entry.settle(promptTokens + completionTokens);
    });
  } catch (error) {
    slots.dispose();
    throw error;
  }
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
