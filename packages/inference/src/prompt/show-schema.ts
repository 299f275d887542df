import type { EngineMetadata, UncompiledRequest } from "../engine.ts";
import type { TemplateMessage } from "./template-messages.ts";

/** Stands for the schema in the line that shows it. */
const placeholder = "{schema}";

const anyObject = { type: "object" };

/**
 * The line that shows a model the schema that its answer is held to: compact JSON, its members in their order. A grammar holds
 * the answer to the schema in any case; a model that has not read it does not know what to write, or when to end.
 * @param maxCharacters a longer schema is not shown, because it would take the place of the conversation
 * @returns undefined where there is nothing to show
 */
export function showSchema(
  format: UncompiledRequest["format"],
  { schemaPrompt }: Pick<EngineMetadata, "schemaPrompt">,
  maxCharacters: number,
): string | undefined {
  if (schemaPrompt === undefined || format.type === "text") return undefined;
  const schema = JSON.stringify(format.type === "json_schema" ? format.schema : anyObject);
  return schema.length > maxCharacters ? undefined : schemaPrompt.split(placeholder).join(schema);
}

/** Behind the text of the first message where that is a system message; otherwise in a system message of its own. */
export function addToSystemMessage(
  messages: readonly TemplateMessage[],
  line: string | undefined,
): readonly TemplateMessage[] {
  if (line === undefined) return messages;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: line }, ...messages];
  const content = first.content === "" ? line : `${first.content}\n\n${line}`;
  return [{ ...first, content }, ...rest];
}
