import type { Answer } from "./request.ts";
import { readJson } from "./read-json.ts";
import { toJsonSchema } from "./standard-schema.ts";
import type { JsonSchema, StandardSchema } from "./standard-schema.ts";
import type { ChatCompletion, CreateRequest, ResponseFormat } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

export interface JsonFormatOptions<Output> {
  /** A name for the schema. 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: string;
  /** A schema of zod, valibot, arktype or another library of Standard Schema: it validates, and types `parsed`. */
  readonly schema: StandardSchema<Output>;
  /** The same schema as JSON Schema, for libraries that do not generate it. The service enforces it. */
  readonly jsonSchema?: JsonSchema | undefined;
}

/** A `response_format` that can also parse the answer. */
export type JsonFormat<Output> = Extract<ResponseFormat, { type: "json_schema" }> & {
  /** Parses and validates a text. @throws {InvalidOutputError} when it is not JSON or does not fit the schema */
  readonly parse: (text: string, requestId?: string) => Promise<Output>;
};

/** Makes a `response_format` from your own schema. @throws {TypeError} when there is no JSON Schema */
export const jsonFormat = <Output>({ name, schema, jsonSchema }: JsonFormatOptions<Output>): JsonFormat<Output> => ({
  type: "json_schema",
  json_schema: { name, schema: toJsonSchema(name, schema, jsonSchema) },
  parse: (text, requestId) => readJson(schema, text, requestId), // JSON.stringify skips functions
});

/** The request of {@link Parley.parse}: one choice, whose content has the format. */
export type ParseRequest<Output> = Omit<
  CreateRequest,
  "n" | "response_format" | "tools" | "tool_choice" | "parallel_tool_calls"
> & {
  readonly response_format: JsonFormat<Output>;
};

/** A completion with its parsed content. */
export type ParsedCompletion<Output> = ChatCompletion & { readonly parsed: Output };

/**
 * Parses the content of an answer.
 * @throws {IncompleteAnswerError} when the answer was cut or refused; {InvalidOutputError} when it does not fit the schema
 */
export async function parseAnswer<Output>(
  { data, response, requestId }: Answer<ChatCompletion>,
  format: JsonFormat<Output>,
): Promise<Answer<ParsedCompletion<Output>>> {
  const { content } = wholeMessage(data, { requestId });
  return { data: { ...data, parsed: await format.parse(content ?? "", requestId) }, response, requestId };
}
