import type { WantedSchema } from "@parley/inference";
import { isRecord } from "@parley/common/is-record";

// The body is parsed but not validated here, so it may have any shape.

/**
 * Returns the schemas of a request: first those of strict and forced functions, then that of the answer, then the others.
 */
export function schemasIn(body: unknown): WantedSchema[] {
  if (!isRecord(body)) return [];
  const { tools, tool_choice: choice, response_format: format } = body;
  const parameters = (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => parametersOf(tool, choice));
  const binding = parameters.filter(({ isBinding }) => isBinding);
  return [...binding, ...answerOf(format), ...parameters.filter(({ isBinding }) => !isBinding)];
}

/** Returns whether a function is strict, and whether its call is forced. */
export const useOfParameters = (
  definition: Readonly<Record<string, unknown>>,
  choice: unknown,
): { readonly isStrict: boolean; readonly isForced: boolean } => ({
  isStrict: definition["strict"] === true,
  isForced: choice === "required" || (definition["name"] !== undefined && nameIn(choice) === definition["name"]),
});

/** Returns the name of the function in a tool or a tool choice. */
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
