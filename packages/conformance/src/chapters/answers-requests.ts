import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { textAt } from "../judge/read.ts";
import { say, chat, hasFeature, modelRecord } from "./ask.ts";
import { clientId } from "./http-every-answer.ts";
import { originOf } from "./http-browsers.ts";

export const plainSteps: readonly Step[] = [
  {
    name: "plain",
    needs: ["models"],
    isValid: true,
    asks: (context) => [
      chat(
        context,
        {},
        {
          headers: [
            ["Accept", "text/event-stream"],
            ["X-Client-Request-Id", clientId],
            ["x-request-id", "conformance-request-id"],
            ["Origin", originOf(context.profile)],
          ],
        },
      ),
    ],
  },
  { name: "plain again", needs: ["models", "plain"], isValid: true, asks: (context) => [chat(context)] },
  {
    name: "choices",
    needs: ["models"],
    isValid: true,
    asks: (context) => [chat(context, { n: 2, max_completion_tokens: 4, temperature: 1 })],
  },
  {
    name: "short",
    needs: ["models"],
    isValid: true,
    asks: (context) => [chat(context, { ...say("Answer with one word: yes or no?"), max_completion_tokens: 64 })],
  },
  { name: "thinking", needs: ["models"], isValid: true, asks: (context) => thinking(context, "high") },
  {
    name: "no thinking",
    needs: ["models"],
    isValid: true,
    asks: (context) => [chat(context, { reasoning_effort: "none", max_completion_tokens: 8 })],
  },
  {
    name: "the default effort",
    needs: ["models"],
    isValid: true,
    asks: (context) => thinking(context, textAt(modelRecord(context), "/default_reasoning_effort") ?? ""),
  },
];

export function thinking(context: Context, reasoning_effort: string): ReturnType<Step["asks"]> {
  if (!hasFeature(context, "reasoning")) cannot("the record of the model has no feature `reasoning`");
  return reasoning_effort === "high"
    ? [
        chat(context, { reasoning_effort, max_completion_tokens: 2 }),
        chat(context, { reasoning_effort, max_completion_tokens: 24 }),
      ]
    : [chat(context, { reasoning_effort })];
}
