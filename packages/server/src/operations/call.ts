import type { Caller } from "../accounts/keys/caller.ts";
import type { ValidatedBody } from "../chat/body/validate-body.ts";
import type { Exchange } from "../http/exchange.ts";
import type { operations } from "@parley/contract/types";
import type { Admission } from "../chat/admission/admission.ts";

export type OperationId = keyof operations;

/** The operations that take a body. */
export type BodyOperationId = {
  [Id in OperationId]: operations[Id] extends { requestBody: object } ? Id : never;
}[OperationId];

type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { "application/json": infer Body } };
}
  ? Body
  : never;
type PathOf<Id extends OperationId> = operations[Id] extends { parameters: { path: infer Path } } ? Path : undefined;

/** The input of every operation: a request that was authenticated and matched. */
export interface Call<Id extends OperationId> {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly path: PathOf<Id>;
}

/** The input of an operation with a body, which was admitted, read and validated. */
export interface BodyCall<Id extends BodyOperationId> extends Call<Id> {
  /** Everything that the request has taken. */
  readonly admission: Admission;
  readonly body: BodyOf<Id>;
  /** The body with its text, its schemas and its ignored members. */
  readonly validated: ValidatedBody;
}

type Answer<Id extends OperationId> = operations[Id]["responses"][200]["content"]["application/json"];

/** An operation. It returns the body of the 200, or nothing if it has written the answer itself. */
export type Operation<Id extends OperationId> = (
  call: Id extends BodyOperationId ? BodyCall<Id> : Call<Id>,
) => Promise<Answer<Id> | undefined>;

/** One operation for every id of the contract: leaving one out does not compile. */
export type Operations = { readonly [Id in OperationId]: Operation<Id> };
