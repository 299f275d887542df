import { InvalidOutputError } from "./errors.ts";
import { parseExact } from "./exact-json.ts";
import type { SchemaIssue, StandardSchema } from "./standard-schema.ts";

/** Parses and validates a text. @throws {InvalidOutputError} when it is not JSON or does not fit the schema */
export async function readJson<Output>(
  schema: StandardSchema<Output>,
  text: string,
  requestId?: string,
): Promise<Output> {
  const facts = { requestId, text, issues: [] };
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (cause) {
    throw new InvalidOutputError("The text is not JSON.", { ...facts, cause });
  }
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  throw new InvalidOutputError(result.issues.map(describeIssue).join("; "), { ...facts, issues: result.issues });
}

const describeIssue = ({ path = [], message }: SchemaIssue): string =>
  [...path.map((part) => String(typeof part === "object" ? part.key : part)), message].join(": ");
