import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { chat } from "./chat-request.ts";
import type { Members } from "./chat-request.ts";
import { canReason } from "./listed-model.ts";

/** Keeps a model that can think from it, so that a few tokens are enough. */
export const unthinking = (context: Context): Members => (canReason(context) ? { reasoning_effort: "none" } : {});

export function thinking(context: Context, members: Members): ReturnType<Step["asks"]> {
  return canReason(context) ? [chat(context, members)] : cannot("the record of the model has no feature `reasoning`");
}
