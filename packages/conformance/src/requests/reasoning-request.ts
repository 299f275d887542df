import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { chat } from "./chat-request.ts";
import type { Members } from "./chat-request.ts";
import { canReason } from "./listed-model.ts";

/** Switches reasoning off for models that have it, so that a few tokens are enough for an answer. */
export const withoutReasoning = (context: Context): Members => (canReason(context) ? { reasoning_effort: "none" } : {});

export function reasoningRequest(context: Context, members: Members): ReturnType<Step["requests"]> {
  return canReason(context)
    ? [chat(context, members)]
    : cannot("the model object does not list the feature `reasoning`");
}
