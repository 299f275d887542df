import type { Answer } from "./request.ts";
import { readJson } from "./read-json.ts";
import { askCaller } from "./retry-advice.ts";
import { toJsonSchema } from "./standard-schema.ts";
import type { JsonSchema, StandardSchema } from "./standard-schema.ts";
import type { ChatCompletion, CreateRequest, ResponseFormat } from "./types.ts";
import { wholeMessage } from "./whole-message.ts";

export interface JsonFormatOptions<Output> {
  /** A name for the schema. 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: string;
  /** A schema of zod, valibot, arktype or another library of Standard Schema: it validates, and types `parsed`. */
  readonly schema: StandardSchema<Output>;
  /** The same as JSON Schema, for libraries that do not write it themselves. The service enforces it. */
  readonly jsonSchema?: JsonSchema | undefined;
}

/** A `response_format` that can read what was written in it. */
export type JsonFormat<Output> = Extract<ResponseFormat, { type: "json_schema" }> & {
  /** @throws {InvalidOutputError} when the text is not JSON, or the schema refuses what it says */
  readonly parse: (text: string, requestId?: string) => Promise<Output>;
};

/** The form of an answer, from a schema of your own. @throws {TypeError} when there is no JSON Schema of it */
export const jsonFormat = <Output>({ name, schema, jsonSchema }: JsonFormatOptions<Output>): JsonFormat<Output> => ({
  type: "json_schema",
  json_schema: { name, schema: toJsonSchema(name, schema, jsonSchema) },
  parse: (text, requestId) => readJson(schema, text, requestId), // JSON.stringify leaves it out of the request
});

/** What {@link Parley.parse} takes: a request for one choice whose content has the format. */
export type ParseRequest<Output> = Omit<
  CreateRequest,
  "n" | "response_format" | "tools" | "tool_choice" | "parallel_tool_calls"
> & {
  readonly response_format: JsonFormat<Output>;
};

/** A completion, and what its content says. */
export type ParsedCompletion<Output> = ChatCompletion & { readonly parsed: Output };

/** @throws {IncompleteAnswerError} when the answer was cut or refused; {InvalidOutputError} when the schema refuses it */
export async function parseAnswer<Output>(
  { data, response, requestId }: Answer<ChatCompletion>,
  format: JsonFormat<Output>,
): Promise<Answer<ParsedCompletion<Output>>> {
  const { content } = wholeMessage(data, { retry: askCaller, requestId });
  return { data: { ...data, parsed: await format.parse(content ?? "", requestId) }, response, requestId };
}
