import type { Express, Request, Response } from "express";
import { callerOf } from "../edge/require-key.ts";
import { contextOf } from "../edge/request-context.ts";
import type { Contract } from "../contract/load-contract.ts";
import { bodyTextOf } from "../contract/validate.ts";
import type { Call, Operation, OperationId, Operations } from "./call.ts";

/** Puts every operation of the contract at its method and path. */
export function mount(app: Express, contract: Contract, operations: Operations): void {
  for (const [path, item] of Object.entries(contract.paths)) {
    const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
    for (const [method, described] of Object.entries(item)) {
      // A path also holds parameters that its operations share.
      if (!("operationId" in described)) continue;
      const { operationId } = described;
      // The contract's ids are the keys of Operations; a test of the tree compares both.
      const operation = operations[operationId as OperationId] as Operation<OperationId>;
      app[method as "get" | "post"](route, (req: Request, res: Response) => run(operation, operationId, req, res));
    }
  }
}

async function run(operation: Operation<OperationId>, operationId: string, req: Request, res: Response): Promise<void> {
  const context = contextOf(res);
  context.record.operation = operationId;
  const call = {
    context,
    caller: callerOf(res),
    body: req.body as unknown,
    bodyText: bodyTextOf(req),
    path: req.params,
    response: res,
  };
  // Validation has held body and path to the types that this operation declares.
  const work = operation(call as unknown as Call<OperationId>);
  context.work = work;
  const answer = await work;
  if (answer !== undefined) res.status(200).json(answer);
}
