import { readJson } from "./read-json.ts";
import { toJsonSchema } from "./standard-schema.ts";
import type { JsonSchema, StandardSchema } from "./standard-schema.ts";
import type { Tool } from "./types.ts";

/** Facts about the call that a tool answers. */
export interface ToolContext {
  /** The `id` of the call. */
  readonly callId: string;
  /** The signal of the loop. When it aborts, the loop ends at once; the tool has to stop its own work. */
  readonly signal: AbortSignal | undefined;
}

export interface ToolOptions<Args> {
  /** 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: string;
  /** A text for the model: the purpose of the function, and when to call it. */
  readonly description?: string | undefined;
  /** A schema of zod, valibot, arktype or another library of Standard Schema: it validates and types the arguments. */
  readonly parameters: StandardSchema<Args>;
  /** The same schema as JSON Schema, for libraries that do not generate it. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** True: the service makes every call fit the schema. Default: true. */
  readonly strict?: boolean | undefined;
  /** Runs the tool. A string is passed to the model unchanged, any other result as JSON. */
  readonly run: (args: Args, context: ToolContext) => unknown;
}

/** A tool of the contract together with the function that runs it. */
export interface RunnableTool extends Tool {
  /** Validates the arguments of a call and returns the function that runs it. @throws {InvalidOutputError} */
  readonly prepare: (argumentsText: string) => Promise<(context: ToolContext) => unknown>;
}

/** Defines a tool for {@link Parley.runTools}. @throws {TypeError} when there is no JSON Schema */
export const defineTool = <Args>({
  name,
  description,
  parameters,
  jsonSchema,
  strict = true,
  run,
}: ToolOptions<Args>): RunnableTool => ({
  type: "function",
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters: toJsonSchema(name, parameters, jsonSchema),
    strict,
  },
  // JSON.stringify skips functions, so the request does not contain it.
  prepare: async (text) => {
    const args = await readJson(parameters, text);
    return (context) => run(args, context);
  },
});
