import type { IncomingMessage, ServerResponse } from "node:http";
import { callerOf } from "../edge/require-key.ts";
import { contextOf } from "../edge/request-context.ts";
import { sendJson } from "../edge/send-json.ts";
import type { Stage } from "../edge/stage.ts";
import { operationOf } from "../contract/match-operation.ts";
import { takeValidatedBody } from "../contract/validate-body.ts";
import { setLimitHeaders } from "../limits/limit-headers.ts";
import type { Limits } from "../limits/limits.ts";
import type { Call, Operation, OperationId, Operations } from "./call.ts";

/** Runs the operation that was matched, and answers with what it returns. */
export function runOperation(operations: Operations, limits: Limits): Stage {
  return async function runOperation(req, res) {
    const work = begin(operations, req, res);
    contextOf(res).work = work;
    const answer = await work;
    if (answer === undefined) return;
    await setLimitHeaders(res, limits, callerOf(res));
    sendJson(res, 200, answer);
  };
}

/** A separate function, because one that awaits the answer would keep the body alive until then. */
function begin(operations: Operations, req: IncomingMessage, res: ServerResponse): ReturnType<Operation<OperationId>> {
  const context = contextOf(res);
  const { id, path } = operationOf(res);
  context.record.operation = id;
  // The contract's ids are the keys of Operations; a test of the tree compares both.
  const operation = operations[id as OperationId] as Operation<OperationId>;
  const validated = takeValidatedBody(req);
  const call = { context, caller: callerOf(res), body: validated.value, validated, path, response: res };
  // Validation has held body and path to the types that this operation declares.
  return operation(call as unknown as Call<OperationId>);
}
