import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { chat, play } from "./chat-request.ts";
import type { ChatOptions, Members } from "./chat-request.ts";

/** Members of a request whose answer goes on until the engine ends it. */
export const endless: Members = { max_completion_tokens: undefined };

/** Ends a step, or a check, unless a scripted engine is behind the service. */
export function needsScript({ profile }: Context): void {
  if (profile.capabilities?.includes("scripted") !== true)
    cannot("it needs a scripted engine behind the service; see the guide");
}

/** A step that makes the scripted engine behind the service play a scenario. */
export function scripted(
  name: string,
  scenario: string,
  members: Members = {},
  rest: Partial<Step> & { readonly options?: (context: Context) => ChatOptions } = {},
): Step {
  const { options, ...others } = rest;
  return {
    name,
    needs: ["models"],
    requests: (context) => {
      needsScript(context);
      return [
        chat(
          context,
          { max_completion_tokens: undefined, stream: true, ...play(`conformance-${scenario}`), ...members },
          options?.(context),
        ),
      ];
    },
    ...others,
  };
}
