import type { ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import type { ValidatedBody } from "../contract/validate-body.ts";
import type { RequestContext } from "../edge/request-context.ts";
import type { operations } from "../generated/contract.ts";

export type OperationId = keyof operations;

type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { "application/json": infer Body } };
}
  ? Body
  : undefined;
type PathOf<Id extends OperationId> = operations[Id] extends { parameters: { path: infer Path } } ? Path : undefined;

/** The input of an operation. Everything in it has passed the earlier stages. */
export interface Call<Id extends OperationId> {
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly body: BodyOf<Id>;
  /** What validation knows of the body beside its value. */
  readonly validated: ValidatedBody;
  readonly path: PathOf<Id>;
  readonly response: ServerResponse;
}

type Answer<Id extends OperationId> = operations[Id]["responses"][200]["content"]["application/json"];

/** Returns the body of the 200, or nothing when it has written the answer itself. */
export type Operation<Id extends OperationId> = (call: Call<Id>) => Promise<Answer<Id> | undefined>;

/** One operation of every id that the contract has: leaving one out does not compile. */
export type Operations = { readonly [Id in OperationId]: Operation<Id> };
