import type { components } from "@parley/contract/types";

type Message = components["schemas"]["ChatMessage"];
type ToolCall = components["schemas"]["ToolCall"];

/** Returns a message with only the fields that a model may see. Text parts are joined. */
export function toEngineMessage(message: Message): Message {
  const { role, name } = message;
  const named = typeof name === "string" ? { name } : {};
  const content = textOf(message.content);
  if (role === "tool") return { role, content, tool_call_id: message.tool_call_id, ...named };
  if (role !== "assistant") return { role, content, ...named };
  const reasoning = message.reasoning ?? message.reasoning_content;
  const calls = message.tool_calls ?? [];
  return {
    role,
    content,
    ...named,
    ...(typeof reasoning === "string" && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toEngineCall) }),
  };
}

const textOf = (content: Message["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join("");

const toEngineCall = ({ id, type, function: { name, arguments: text } }: ToolCall): ToolCall => ({
  id,
  type,
  function: { name, arguments: text },
});
