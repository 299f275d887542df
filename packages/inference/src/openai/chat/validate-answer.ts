import { isRecord } from "@parley/common/is-record";
import { EngineError } from "../../engine.ts";
import type { EngineRequest, FunctionTool } from "../../engine.ts";
import type { Schema } from "@parley/json-schema-grammar";
import { parseJson } from "@parley/json-schema-grammar/json";
import { SchemaTooComplexError, ComplexityBudget } from "@parley/json-schema-grammar/complexity-budget";
import { satisfies } from "@parley/json-schema-grammar/validate-value";

/**
 * Checks that content has the requested format. No upstream is known to enforce it, so other content is a failure, never a
 * clean end.
 * @throws {EngineError} `protocol`
 */
export function validateContent(content: string, format: EngineRequest["format"]): void {
  if (format.type === "text") return;
  const value = parseOr(content, "the engine wrote content that is not JSON");
  const isRight = format.type === "json_object" ? isRecord(value) : isValid(format.schema, value);
  if (!isRight) throw new EngineError("protocol", "the engine wrote JSON that is not what was asked for");
}

/** Checks the arguments of a finished call: they must be a JSON object, and satisfy the schema if that was promised. */
export function validateArguments(text: string, tool: FunctionTool | undefined, isForced: boolean): void {
  const value = parseOr(text, "the engine wrote arguments that are not JSON");
  const isBinding = isForced || tool?.isStrict === true;
  if (isRecord(value) && (!isBinding || isValid(tool?.parameters ?? noParameters, value))) return;
  throw new EngineError("protocol", "the engine called a function with arguments that its schema does not allow");
}

const noParameters = { type: "object", additionalProperties: false };

export function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

function parseOr(text: string, failure: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new EngineError("protocol", failure, { cause: error });
  }
}

/** Enough for the longest answer: its length is bounded by maxTokens, and every value costs a few steps. */
const steps = 10_000_000;

function isValid(schema: Schema, value: unknown): boolean {
  try {
    return satisfies(schema, value, new ComplexityBudget(steps));
  } catch (error) {
    if (error instanceof SchemaTooComplexError) return false;
    throw error;
  }
}
