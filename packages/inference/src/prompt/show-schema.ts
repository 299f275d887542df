import type { EngineMetadata, EngineRequest } from "../engine.ts";
import type { TemplateMessage } from "./template-messages.ts";

/** The placeholder for the schema in the prompt line that shows it. */
const placeholder = "{schema}";

const anyObject = { type: "object" };

/**
 * Returns the prompt line that shows a model the schema of its answer: compact JSON, members in their order. A grammar
 * enforces the schema anyway, but a model that has not read the schema does not know what to write, or when to end.
 * @param maxCharacters a longer schema is not shown, because it would leave too little of the context to the conversation
 * @returns undefined where no schema is shown
 */
export function showSchema(
  format: EngineRequest["format"],
  { schemaPrompt }: Pick<EngineMetadata, "schemaPrompt">,
  maxCharacters: number,
): string | undefined {
  if (schemaPrompt === undefined || format.type === "text") return undefined;
  const schema = JSON.stringify(format.type === "json_schema" ? format.schema : anyObject);
  return schema.length > maxCharacters ? undefined : schemaPrompt.split(placeholder).join(schema);
}

/** Appends the line to the first message if that is a system message. Otherwise adds a system message with the line. */
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
