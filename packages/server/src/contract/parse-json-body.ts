import contract from "../generated/contract.json" with { type: "json" };
import { ApiError } from "../errors/api-error.ts";
import { BodyText } from "./body-text.ts";

const maxLevels = contract["x-limits"].maxNestingLevels.value;

export interface ParsedBody {
  readonly value: unknown;
  readonly text: BodyText;
}

/** @throws {ApiError} `invalid_json` for bytes that are not JSON in UTF-8, or that nest too deeply; the root is level 1 */
export function parseJsonBody(bytes: Uint8Array): ParsedBody {
  const text = decode(bytes);
  if (text.trim() === "") throw new ApiError("invalid_json", "The body is empty. Send a JSON object.");
  if (isTooDeep(text)) throw new ApiError("invalid_json", `The body is nested deeper than ${maxLevels} levels.`);
  try {
    const value: unknown = JSON.parse(text);
    return { value, text: new BodyText(text, value) };
  } catch (error) {
    throw new ApiError("invalid_json", "The body is not valid JSON.", { cause: error });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The body is not valid UTF-8.", { cause: error });
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Counts brackets outside strings, so that the depth is known before anything recursive sees the value. */
function isTooDeep(text: string): boolean {
  let level = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (code === 0x7b || code === 0x5b) level += 1;
    else if (code === 0x7d || code === 0x5d) level -= 1;
    if (level > maxLevels) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== quote) index += text.charCodeAt(index) === backslash ? 2 : 1;
  return index;
}
