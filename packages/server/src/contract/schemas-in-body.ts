import type { WantedSchema } from "@parley/inference";
import { isRecord } from "./schema.ts";

// The body has been parsed and may still be anything.

/** The schemas of a request: those of strict and forced functions first, then of the answer. */
export function schemasIn(body: unknown): WantedSchema[] {
  if (!isRecord(body)) return [];
  const { tools, tool_choice: choice, response_format: format } = body;
  const parameters = (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => parametersOf(tool, choice));
  const binding = parameters.filter(({ isBinding }) => isBinding);
  return [...binding, ...answerOf(format), ...parameters.filter(({ isBinding }) => !isBinding)];
}

/** How the parameters of a function are enforced. */
export const useOfParameters = (
  definition: Readonly<Record<string, unknown>>,
  choice: unknown,
): { readonly isStrict: boolean; readonly isForced: boolean } => ({
  isStrict: definition["strict"] === true,
  isForced: choice === "required" || (definition["name"] !== undefined && nameIn(choice) === definition["name"]),
});

/** The function that a choice or a tool names. */
export function nameIn(value: unknown): string | undefined {
  const name = isRecord(value) && isRecord(value["function"]) ? value["function"]["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function parametersOf(tool: unknown, choice: unknown): WantedSchema[] {
  const definition = isRecord(tool) ? tool["function"] : undefined;
  if (!isRecord(definition) || !isRecord(definition["parameters"])) return [];
  const { isStrict, isForced } = useOfParameters(definition, choice);
  const use = isStrict ? "strict" : "lenient";
  return [{ schema: definition["parameters"], use, isBinding: isStrict || isForced }];
}

function answerOf(format: unknown): WantedSchema[] {
  if (!isRecord(format) || format["type"] !== "json_schema" || !isRecord(format["json_schema"])) return [];
  const { schema } = format["json_schema"];
  return isRecord(schema) ? [{ schema, use: "answer", isBinding: true }] : [];
}
