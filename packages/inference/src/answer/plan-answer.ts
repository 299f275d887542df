import type { Generation } from "../engine.ts";
import type { Capabilities } from "../prompt/special-tokens.ts";
import type { AnswerPlan } from "./answer-parser.ts";

/** The parts that the caller asks for and the model is capable of. */
export function planAnswer(request: Generation, capabilities: Capabilities): AnswerPlan {
  return {
    isReasoning: request.isReasoning && capabilities.canReason,
    tools: toolsOf(request, capabilities.canCallTools),
    isParallel: request.parallelToolCalls,
    isConstrained: request.format.type !== "text",
    stop: request.stop,
  };
}

/** The grammar can make any model write a forced call. Only a model that was trained for calls may choose to call. */
function toolsOf({ tools, toolChoice }: Generation, canCallTools: boolean): AnswerPlan["tools"] {
  if (tools.length === 0 || toolChoice === "none") return "off";
  if (toolChoice !== "auto") return "required";
  return canCallTools ? "auto" : "off";
}
