import { isChatRequest } from "../generated/is-chat-request.ts";
import { requestSchema } from "./schema.ts";
import type { Schema } from "./schema.ts";

/** Whether the parsed body of a request satisfies the schema. Why it does not is left to `explainViolation`. */
export interface RequestGate {
  readonly schema: Schema;
  readonly accepts: (body: unknown) => boolean | Promise<boolean>;
}

/** A gate that answers at once. */
export interface BodyGate extends RequestGate {
  readonly accepts: (body: unknown) => boolean;
}

/** The validator that `generate` writes, so that nothing is compiled at the start. */
export const createGate = (): BodyGate => ({ schema: requestSchema, accepts: isChatRequest });
