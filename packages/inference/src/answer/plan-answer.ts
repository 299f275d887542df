import type { EngineRequest } from "../engine.ts";
import type { Capabilities } from "../prompt/special-tokens.ts";
import type { AnswerPlan } from "./answer-parser.ts";

/** What the caller asks for, as far as the model has been taught it. */
export function planAnswer(request: EngineRequest, capabilities: Capabilities): AnswerPlan {
  return {
    isReasoning: request.isReasoning && capabilities.canReason,
    tools: toolsOf(request, capabilities.canCallTools),
    isParallel: request.parallel_tool_calls,
    isConstrained: request.format.type !== "text",
    stop: request.stop,
  };
}

/** A forced call needs only the grammar; to call of its own accord a model must know how. */
function toolsOf({ tools, tool_choice }: EngineRequest, canCallTools: boolean): AnswerPlan["tools"] {
  if (tools.length === 0 || tool_choice === "none") return "off";
  if (tool_choice !== "auto") return "required";
  return canCallTools ? "auto" : "off";
}
