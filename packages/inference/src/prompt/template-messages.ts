import type { ChatMessage, FunctionTool } from "../engine.ts";

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

/** `developer` counts as `system`. All system messages are joined and come first, because templates allow them nowhere else. */
export function toTemplateMessages(messages: readonly ChatMessage[]): TemplateMessage[] {
  const isSystem = (message: ChatMessage): boolean => message.role === "system" || message.role === "developer";
  const system = messages.filter(isSystem).map((message) => textOf(message.content));
  const others = messages.filter((message) => !isSystem(message)).map(toTemplateMessage);
  return system.length === 0 ? others : [{ role: "system", content: system.join("\n\n") }, ...others];
}

function toTemplateMessage(message: ChatMessage): TemplateMessage {
  const content = textOf(message.content);
  if (message.role === "tool") return { role: "tool", content, tool_call_id: message.tool_call_id };
  if (message.role !== "assistant") return { role: "user", content };
  const reasoning = message.reasoning ?? message.reasoning_content;
  return {
    role: "assistant",
    content,
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
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Text parts are concatenated without a separator. */
export function textOf(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text).join("");
}

/** A function as templates expect it. */
export const toTemplateTool = (tool: FunctionTool): unknown => ({
  type: "function",
  function: {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    parameters: tool.parameters ?? { type: "object", properties: {} },
  },
});
