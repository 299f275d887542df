import type { Caller } from "../accounts/keys/caller.ts";
import type { UsageLedger } from "../accounts/ledger/usage-ledger.ts";
import type { MatchedOperation } from "../http/match-operation.ts";
import type { ValidatedBody } from "../chat/body/validate-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendJson } from "../http/send-json.ts";
import type { Admission } from "../chat/admission/admission.ts";
import { setLimitHeaders } from "../accounts/limits/limit-headers.ts";
import type { Limits } from "../accounts/limits/limits.ts";
import type { Call, Operation, OperationId, Operations } from "./call.ts";
import { createChatCompletion } from "./create-chat-completion/create-chat-completion.ts";
import type { ChatDeps } from "./create-chat-completion/create-chat-completion.ts";
import { listModels } from "./list-models/list-models.ts";
import { retrieveKey } from "./retrieve-key/retrieve-key.ts";
import type { KeyStateDeps } from "./retrieve-key/retrieve-key.ts";
import { retrieveReceipt } from "./retrieve-receipt/retrieve-receipt.ts";
import { retrieveModel } from "./retrieve-model/retrieve-model.ts";

/** The parts that all operations together need. */
export interface AllDeps extends ChatDeps, KeyStateDeps {
  /** Looks up the requests and the spending of keys. */
  readonly ledger: Pick<UsageLedger, "find" | "spentUsd" | "groupSpentUsd">;
}

/** Returns all operations of the contract, by id. */
export const buildOperations = (deps: AllDeps): Operations => ({
  createChatCompletion: createChatCompletion(deps),
  listModels: listModels(deps.models),
  retrieveModel: retrieveModel(deps.models),
  retrieveKey: retrieveKey(deps),
  retrieveReceipt: retrieveReceipt(deps.ledger),
});

export interface OperationDeps {
  readonly operations: Operations;
  readonly limits: Limits;
}

/** An authenticated request. If its operation has a body, the request is admitted and the body validated. */
export interface OperationRequest {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly admission?: Admission;
  readonly validated?: ValidatedBody;
}

/**
 * Runs an operation, and answers with the body that it returns. Not an async function, so the body of the request can be
 * freed early (docs/request-path.md, "Memory of a request").
 */
export function runOperation(
  deps: OperationDeps,
  { id, path }: MatchedOperation,
  request: OperationRequest,
): Promise<void> {
  const { exchange, caller, admission, validated } = request;
  exchange.record.operation = id;
  // The contract's ids are the keys of Operations; a test of the tree compares both.
  const operation = deps.operations[id as OperationId] as (
    call: Call<OperationId>,
  ) => ReturnType<Operation<OperationId>>;
  const call = { exchange, caller, path, admission, validated, body: validated?.value };
  // Validation has checked that body and path have the types that this operation declares.
  return send(deps.limits, { exchange, caller }, operation(call as unknown as Call<OperationId>));
}

/** @param answer undefined if the operation has written it */
async function send(
  limits: Limits,
  { exchange, caller }: Pick<OperationRequest, "exchange" | "caller">,
  answer: ReturnType<Operation<OperationId>>,
): Promise<void> {
  const body = await answer;
  if (body === undefined) return;
  setLimitHeaders(exchange.res, await limits.states(caller));
  sendJson(exchange.res, 200, body);
}
