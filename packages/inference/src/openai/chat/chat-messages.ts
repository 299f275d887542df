import type { EngineRequest, FunctionTool } from "../../engine.ts";
import { toTemplateMessages, toTemplateTool } from "../../prompt/template-messages.ts";
import type { TemplateMessage } from "../../prompt/template-messages.ts";
import { findParametersFault } from "../../schema/compile-schema.ts";
import { ComplexityBudget } from "../../schema/complexity-budget.ts";

/** Messages as a chat route takes them: those that the template is counted with, with arguments as text. */
export function toChatMessages(messages: EngineRequest["messages"], isVllm: boolean): readonly object[] {
  return toTemplateMessages(messages).map(({ reasoning_content, tool_calls, ...message }) => ({
    ...message,
    // Nobody but vLLM is known to take an earlier thought back.
    ...(isVllm && reasoning_content !== undefined && { reasoning: reasoning_content }),
    ...(tool_calls && { tool_calls: tool_calls.map(toChatCall) }),
  }));
}

type Call = NonNullable<TemplateMessage["tool_calls"]>[number];

const toChatCall = ({ function: { name, arguments: given }, ...call }: Call): object => ({
  ...call,
  function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
});

/** vLLM holds arguments to their schema only where it is told to, which it is wherever that can be done; others refuse most schemas then. */
export function toChatTools(tools: readonly FunctionTool[], isVllm: boolean): readonly object[] {
  const budget = new ComplexityBudget();
  return tools.map((tool) => {
    const { function: described } = toTemplateTool(tool) as { readonly function: object }; // as it was just made
    const isEnforceable = isVllm && findParametersFault(tool.parameters ?? {}, budget) === undefined;
    const isStrict = tool.isStrict === true || isEnforceable;
    return { type: "function", function: { ...described, ...(isStrict && { strict: true }) } };
  });
}
