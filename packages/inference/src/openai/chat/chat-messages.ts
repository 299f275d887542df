import type { EngineRequest, FunctionTool } from "../../engine.ts";
import { toTemplateMessages, toTemplateTool } from "../../prompt/template-messages.ts";
import type { ChatDialect } from "./chat-body.ts";
import type { TemplateMessage } from "../../prompt/template-messages.ts";

/** Returns messages as a chat route takes them: the same messages that prompts are counted with, but with arguments as text. */
export function toChatMessages(
  messages: EngineRequest["messages"],
  { isVllm, systemPlacement }: Pick<ChatDialect, "isVllm" | "systemPlacement">,
): readonly object[] {
  return toTemplateMessages(messages, systemPlacement).map(({ reasoning_content, tool_calls, ...message }) => ({
    ...message,
    // Only vLLM is known to accept the reasoning of an earlier turn.
    ...(isVllm && reasoning_content !== undefined && { reasoning: reasoning_content }),
    ...(tool_calls && { tool_calls: tool_calls.map(toChatCall) }),
  }));
}

type Call = NonNullable<TemplateMessage["tool_calls"]>[number];

const toChatCall = ({ function: { name, arguments: given }, ...call }: Call): object => ({
  ...call,
  function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
});

/**
 * vLLM enforces the parameters of a function only with `strict`, so it is set wherever they can be enforced. Other services
 * refuse most schemas with `strict`.
 * @param enforceable names of functions; empty for those services
 */
export function toChatTools(tools: readonly FunctionTool[], enforceable: readonly string[]): readonly object[] {
  return tools.map((tool) => {
    const { function: described } = toTemplateTool(tool) as { readonly function: object }; // as it was just made
    const isStrict = tool.isStrict === true || enforceable.includes(tool.name);
    return { type: "function", function: { ...described, ...(isStrict && { strict: true }) } };
  });
}
