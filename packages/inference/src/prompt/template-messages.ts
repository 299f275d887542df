import { parseSpelledJson } from "@parley/json-schema-grammar/json";
import type { ChatMessage, FunctionTool } from "../engine.ts";
import type { SystemPlacement } from "./system-placement.ts";

/** A message as chat templates expect it (the format of Hugging Face's `apply_chat_template`). */
export interface TemplateMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: unknown };
  }[];
}

/** `developer` counts as `system`. If they must be at the start, all system messages are joined to one without a name. */
export function toTemplateMessages(messages: readonly ChatMessage[], placement: SystemPlacement): TemplateMessage[] {
  const all = messages.map(toTemplateMessage);
  const system = all.filter(({ role }) => role === "system");
  if (placement === "in place" || system.length === 0) return all;
  const content = system.map((message) => message.content).join("\n\n");
  return [{ role: "system", content }, ...all.filter(({ role }) => role !== "system")];
}

function toTemplateMessage(message: ChatMessage): TemplateMessage {
  const content = textOf(message.content);
  const named = typeof message.name === "string" ? { name: message.name } : {};
  if (message.role === "tool") return { role: "tool", content, ...named, tool_call_id: message.tool_call_id };
  if (message.role !== "assistant") return { role: message.role === "user" ? "user" : "system", content, ...named };
  const reasoning = message.reasoning ?? message.reasoning_content;
  return {
    role: "assistant",
    content,
    ...named,
    ...(typeof reasoning === "string" && { reasoning_content: reasoning }),
    ...(message.tool_calls && { tool_calls: message.tool_calls.map(toTemplateCall) }),
  };
}

type AssistantCall = NonNullable<Extract<ChatMessage, { role: "assistant" }>["tool_calls"]>[number];

function toTemplateCall(call: AssistantCall): NonNullable<TemplateMessage["tool_calls"]>[number] {
  return {
    id: call.id,
    type: "function",
    function: { name: call.function.name, arguments: parseArguments(call.function.arguments) },
  };
}

/** Templates print arguments as JSON, so they are parsed first. Text that is not valid JSON is passed on as text. */
function parseArguments(text: string): unknown {
  try {
    return parseSpelledJson(text);
  } catch {
    return text;
  }
}

/** Text parts are concatenated without a separator. */
export function textOf(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text).join("");
}

/** Returns a function tool in the form that templates expect. */
export const toTemplateTool = (tool: FunctionTool): unknown => ({
  type: "function",
  function: {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    parameters: tool.parameters ?? { type: "object", properties: {} },
  },
});
