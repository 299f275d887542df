import { isChatRequest } from "@parley/contract/is-chat-request";
import { requestSchema } from "./schema.ts";
import type { Schema } from "./schema.ts";

/** Checks whether the parsed body of a request satisfies the schema. `explainViolation` finds the reason if it does not. */
export interface RequestGate {
  readonly schema: Schema;
  readonly accepts: (body: unknown) => boolean | Promise<boolean>;
}

/** A gate that returns its verdict synchronously. */
export interface BodyGate extends RequestGate {
  readonly accepts: (body: unknown) => boolean;
}

/** Returns the validator that `generate/main.ts` writes. It needs no compilation at the start. */
export const createGate = (): BodyGate => ({ schema: requestSchema, accepts: isChatRequest });
