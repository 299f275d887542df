import type { RequestSchemas, SchemaCompiler } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import { dependenciesOf } from "./dependencies.ts";
import { explainViolation } from "./explain-violation.ts";
import { keepsRules } from "./field-rules.ts";
import { findIgnoredFields } from "./ignored-fields.ts";
import type { ParsedBody } from "./parse-json-body.ts";
import type { RequestGate } from "./request-gate.ts";
import type { Schema } from "./schema.ts";
import { schemasIn } from "./schemas-in-body.ts";

/** A body that keeps the contract. */
export interface ValidatedBody extends ParsedBody {
  /** The schemas in the body, compiled as far as validation had to. */
  readonly schemas: RequestSchemas;
  /** The paths of the members that have no effect. */
  readonly ignored: readonly string[];
}

export interface ValidationOptions {
  readonly gate: RequestGate;
  readonly schemaCompiler: SchemaCompiler;
  /** The key whose share of the compiler's time is used. */
  readonly keyId: string;
  /** Refuses a body with members that have no effect. */
  readonly isStrict: boolean;
  readonly signal: AbortSignal;
}

/** Holds a body to the schema and the rules of its operation. @throws {ApiError} 400 @throws the signal's reason */
export async function validateBody(body: ParsedBody, options: ValidationOptions): Promise<ValidatedBody> {
  const { gate, schemaCompiler, keyId, isStrict, signal } = options;
  const keepsSchema = await gate.accepts(body.value);
  const schemas = await schemaCompiler.compile(schemasIn(body.value), keyId, signal);
  assertValid(body, keepsSchema, gate.schema, schemas);
  const ignored = findIgnoredFields(gate.schema, body.value, {
    namesOf: (owner) => body.text.namesOf(owner),
    ignoredIn: (inner) => schemas.ignoredIn(inner),
  });
  const [first] = ignored;
  if (isStrict && first !== undefined) throw withoutEffect(first);
  return { ...body, schemas, ignored };
}

/**
 * Once the gate has judged the schema, holds a body to the rules across fields. Only when one of both has refused is the
 * body walked, to find the first fault in the contract's order. @throws {ApiError} 400
 */
function assertValid({ value, text }: ParsedBody, keepsSchema: boolean, schema: Schema, schemas: RequestSchemas): void {
  const rules = dependenciesOf(value, text, schemas);
  if (keepsSchema && keepsRules(value, rules)) return;
  // Both read the same contract; a property test holds them to the same verdict.
  throw (
    explainViolation(schema, value, rules) ?? new ApiError("invalid_value", "The body does not match the contract.")
  );
}

const withoutEffect = (member: string): ApiError =>
  new ApiError("unknown_parameter", `${member} would have no effect, and x-strict-params was asked for.`, {
    param: member,
  });
