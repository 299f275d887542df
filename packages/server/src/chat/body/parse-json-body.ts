import { parseJsonWith, scanJson } from "@parley/json-schema-grammar/json";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { ApiError } from "../../errors/api-error.ts";
import { explainJson } from "../../http/explain-json.ts";
import { BodyText } from "./body-text.ts";

const { maxNestingLevels, maxBodyValues } = contract["x-limits"];
const bounds = { levels: maxNestingLevels.value, values: maxBodyValues.value };

/** The paths of the JSON Schemas in a body. The digits of their numbers and the order of their members are kept. */
const schemaPaths = ["tools.*.function.parameters", "response_format.json_schema.schema"];

export interface ParsedBody {
  readonly value: unknown;
  readonly text: BodyText;
}

/**
 * Parses a body. Its values are counted first, because the time of all later steps grows with their number.
 * @throws {ApiError} `invalid_json` for bytes that are not JSON in UTF-8, are nested too deeply, or have too many values
 */
export function parseJsonBody(bytes: Uint8Array): ParsedBody {
  const text = decode(bytes);
  if (text.trim() === "") throw new ApiError("invalid_json", "The body is empty. Send a JSON object.");
  const { levels, values, isPlain } = scanJson(text, bounds);
  if (levels > bounds.levels)
    throw new ApiError("invalid_json", `The body is nested deeper than ${bounds.levels} levels.`);
  if (values > bounds.values)
    throw new ApiError("invalid_json", `The body holds more than ${bounds.values} JSON values.`);
  try {
    const value = parseJsonWith(text, schemaPaths, isPlain);
    return { value, text: new BodyText(text, value) };
  } catch (error) {
    throw new ApiError("invalid_json", explainJson(error), { cause: error });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The body is not valid UTF-8.", { cause: error });
  }
}
