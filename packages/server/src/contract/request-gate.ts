import { isChatRequest } from "../generated/is-chat-request.ts";
import { isRecord } from "./schema.ts";
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

/**
 * The validator that `generate` writes, so that nothing is compiled at the start. It knows no bound that is each model's own:
 * those are added here.
 * @param schema that of a chat request: the contract's, with the bounds of the models that are served
 */
export function createGate(schema: Schema): BodyGate {
  const bounds = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    field["x-model-limit"] === undefined || field.maximum === undefined ? [] : [[name, field.maximum] as const],
  );
  const keepsBounds = (body: Record<string, unknown>): boolean =>
    bounds.every(([name, most]) => !(Number(body[name]) > most)); // absent is not a number, null is 0
  return { schema, accepts: (body) => isChatRequest(body) && isRecord(body) && keepsBounds(body) };
}
