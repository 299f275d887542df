import type { RequestSchemas, SchemaCompiler } from "@parley/inference";
import { ApiError } from "../../errors/api-error.ts";
import { dependenciesOf } from "./dependencies.ts";
import { explainViolation } from "./explain-violation.ts";
import { keepsRules } from "./field-rules.ts";
import type { Path } from "./field-path.ts";
import { findIgnoredFields, withMaximum } from "./ignored-fields.ts";
import type { IgnoredFields } from "./ignored-fields.ts";
import type { ParsedBody } from "./parse-json-body.ts";
import type { RequestGate } from "./request-gate.ts";
import type { Schema } from "./schema.ts";
import { schemasIn } from "./schemas-in-body.ts";
import { findUnsupported } from "./unsupported-members.ts";

/** A valid body. */
export interface ValidatedBody extends ParsedBody {
  /** The schemas in the body. Those that validation needed are compiled. */
  readonly schemas: RequestSchemas;
  /** The members that have no effect. */
  readonly ignored: IgnoredFields;
  /** True if the caller wants members without effect to be refused. */
  readonly isStrict: boolean;
}

export interface ValidationOptions {
  readonly gate: RequestGate;
  readonly schemaCompiler: SchemaCompiler;
  /** The key that is charged for the compiler's time. */
  readonly keyId: string;
  /** Refuses a body with members that have no effect. */
  readonly isStrict: boolean;
  readonly signal: AbortSignal;
}

/**
 * Validates a body against the schema and the rules of its operation.
 * @throws {ApiError} 400
 * @throws the signal's reason
 */
export async function validateBody(body: ParsedBody, options: ValidationOptions): Promise<ValidatedBody> {
  const { gate, schemaCompiler, keyId, isStrict, signal } = options;
  const keepsSchema = await gate.accepts(body.value);
  const schemas = await schemaCompiler.compile(schemasIn(body.value), keyId, signal);
  assertValid(body, keepsSchema, gate.schema, schemas);
  const ignored = findIgnoredFields(gate.schema, body.value, {
    namesOf: (owner) => body.text.namesOf(owner),
    ignoredIn: (inner) => schemas.ignoredIn(inner),
  });
  const [first] = ignored.paths;
  if (isStrict && first !== undefined) throw withoutEffect(first, `${first} would have no effect`);
  return { ...body, schemas, ignored, isStrict };
}

/**
 * Checks the rules across fields and the unsupported members, after the gate has checked the schema. If the gate or a rule
 * refuses the body, it is walked to find the first fault in the contract's order.
 * @throws {ApiError} 400
 */
function assertValid({ value, text }: ParsedBody, keepsSchema: boolean, schema: Schema, schemas: RequestSchemas): void {
  const rules = dependenciesOf(value, text, schemas);
  const keepsAll = keepsSchema && keepsRules(value, rules);
  // Gate and walk follow the same contract. A property test checks that they always agree.
  const fault = keepsAll
    ? findUnsupported(value)
    : (explainViolation(schema, value, rules) ??
      new ApiError("invalid_value", "The body does not match the contract."));
  if (fault) throw fault;
}

/** A maximum that a request has set. */
export interface NamedMaximum {
  readonly name: "max_completion_tokens" | "max_tokens";
  readonly tokens: number;
}

/**
 * Returns the members without effect of a request whose maximum is lowered to `max`. The maximum is one of them.
 * @throws {ApiError} 400 `unknown_parameter` if the caller wants members without effect to be refused
 */
export function ignoredWhenLowered(
  { ignored, isStrict }: Pick<ValidatedBody, "ignored" | "isStrict">,
  { name, tokens }: NamedMaximum,
  max: number,
): readonly Path[] {
  if (isStrict)
    throw withoutEffect(name, `${name} is ${tokens} and would be lowered to ${max}, all that the model can write here`);
  return withMaximum(ignored, name);
}

const withoutEffect = (member: Path, reason: string): ApiError =>
  new ApiError("unknown_parameter", `${reason}, and x-strict-params was asked for.`, { param: member });
