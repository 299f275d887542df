import type { IncomingMessage, ServerResponse } from "node:http";
import { RequestSchemas } from "@parley/inference";
import type { SchemaCompiler } from "@parley/inference";
import { takeBody } from "../edge/read-body.ts";
import { contextOf } from "../edge/request-context.ts";
import { callerOf } from "../edge/require-key.ts";
import { headerOf } from "../edge/stage.ts";
import type { Stage } from "../edge/stage.ts";
import { ApiError } from "../errors/api-error.ts";
import { BodyText } from "./body-text.ts";
import { dependenciesOf } from "./dependencies.ts";
import { explainViolation } from "./explain-violation.ts";
import { keepsRules } from "./field-rules.ts";
import { findIgnoredFields, formatIgnored } from "./ignored-fields.ts";
import { parseJsonBody } from "./parse-json-body.ts";
import type { ParsedBody } from "./parse-json-body.ts";
import type { RequestGate } from "./request-gate.ts";
import type { Schema } from "./schema.ts";
import { schemasIn } from "./schemas-in-body.ts";

/** What validation leaves for an operation. */
export interface ValidatedBody {
  readonly value: unknown;
  readonly text: BodyText;
  /** The schemas in the body, compiled as far as validation had to. */
  readonly schemas: RequestSchemas;
}

const bodies = new WeakMap<IncomingMessage, ValidatedBody>();

/** Hands over a validated body, once: the caller decides how long it is kept. It is empty if the operation takes none. */
export function takeValidatedBody(req: IncomingMessage): ValidatedBody {
  const body = bodies.get(req);
  bodies.delete(req);
  return body ?? { value: undefined, text: new BodyText("null", null), schemas: new RequestSchemas() };
}

/** Turns the bytes of the body into what its operation declares. @throws {ApiError} 400 */
export function validateBody(gate: RequestGate, compiler: SchemaCompiler): Stage {
  return async function validateBody(req, res) {
    if (req.method === "POST") {
      const body = parseJsonBody(takeBody(req));
      const keepsSchema = await gate.accepts(body.value, req, res);
      const schemas = await compiler.compile(schemasIn(body.value), callerOf(res).keyId, contextOf(res).signal);
      assertValid(body, keepsSchema, gate.schema, schemas);
      bodies.set(req, { ...body, schemas });
      nameIgnored(body, gate.schema, schemas, req, res);
    }
  };
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

function nameIgnored(
  { value, text }: ParsedBody,
  schema: Schema,
  schemas: RequestSchemas,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const ignored = findIgnoredFields(schema, value, {
    namesOf: (owner) => text.namesOf(owner),
    ignoredIn: (inner) => schemas.ignoredIn(inner),
  });
  const [first] = ignored;
  if (first === undefined) return;
  if (headerOf(req, "x-strict-params")?.toLowerCase() === "true") {
    throw new ApiError("unknown_parameter", `${first} would have no effect, and x-strict-params was asked for.`, {
      param: first,
    });
  }
  res.setHeader("x-ignored-params", formatIgnored(ignored));
}
