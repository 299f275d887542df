import type { RequestHandler } from "express";
import { callerOf } from "../edge/require-key.ts";
import { contextOf } from "../edge/request-context.ts";
import { operationOf } from "../contract/match-operation.ts";
import { validatedBodyOf } from "../contract/validate-body.ts";
import type { Call, Operation, OperationId, Operations } from "./call.ts";

/** Runs the operation that was matched, and answers with what it returns. */
export function runOperation(operations: Operations): RequestHandler {
  return async function runOperation(req, res) {
    const context = contextOf(res);
    const { id, path } = operationOf(res);
    context.record.operation = id;
    // The contract's ids are the keys of Operations; a test of the tree compares both.
    const operation = operations[id as OperationId] as Operation<OperationId>;
    const call = {
      context,
      caller: callerOf(res),
      body: req.body as unknown,
      validated: validatedBodyOf(req),
      path,
      response: res,
    };
    // Validation has held body and path to the types that this operation declares.
    const work = operation(call as unknown as Call<OperationId>);
    context.work = work;
    const answer = await work;
    if (answer !== undefined) res.status(200).json(answer);
  };
}
