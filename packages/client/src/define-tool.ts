import { readJson } from "./read-json.ts";
import { toJsonSchema } from "./standard-schema.ts";
import type { JsonSchema, StandardSchema } from "./standard-schema.ts";
import type { Tool } from "./types.ts";

/** What a tool learns of the call that it answers. */
export interface ToolContext {
  /** The `id` of the call. */
  readonly callId: string;
  /** The signal of the loop; work that it does not end goes on unseen. */
  readonly signal: AbortSignal | undefined;
}

export interface ToolOptions<Args> {
  /** 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: string;
  /** What the function does and when to call it. The model reads it. */
  readonly description?: string | undefined;
  /** A schema of zod, valibot, arktype or another library of Standard Schema: it validates and types the arguments. */
  readonly parameters: StandardSchema<Args>;
  /** The same as JSON Schema, for libraries that do not write it themselves. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** Whether the service holds every call to the schema. Default: true. */
  readonly strict?: boolean | undefined;
  /** Answers a call. The model gets text as it is, and anything else as JSON. */
  readonly run: (args: Args, context: ToolContext) => unknown;
}

/** A tool of the contract that can be run. */
export interface RunnableTool extends Tool {
  /** Reads the arguments of a call, and gives what answers it. @throws {InvalidOutputError} when they are invalid */
  readonly prepare: (argumentsText: string) => Promise<(context: ToolContext) => unknown>;
}

/** A function that the model may call, for {@link Parley.runTools}. @throws {TypeError} when there is no JSON Schema */
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
  // JSON.stringify leaves it out of the request.
  prepare: async (text) => {
    const args = await readJson(parameters, text);
    return (context) => run(args, context);
  },
});
