import type { Step } from "../../judge/check.ts";
import { cannot } from "../../judge/finding.ts";
import { chat } from "../../requests/chat-request.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import { refusals } from "../../requests/refusals.ts";

export const plans = refusals([
  {
    clause: "LOGP-07",
    want: { status: 400, code: "invalid_value", param: "top_logprobs" },
    cases: [{ title: "21 alternatives", members: { logprobs: true, top_logprobs: 21 } }],
  },
]);

export const steps: readonly Step[] = [
  {
    name: "log-probabilities",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { logprobs: true, top_logprobs: 5 })],
  },
  {
    name: "log-probabilities alone",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { logprobs: true, max_completion_tokens: 4 })],
  },
  {
    name: "no alternatives",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { logprobs: true, top_logprobs: 0, max_completion_tokens: 4 })],
  },
  {
    name: "log-probabilities, streamed",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { logprobs: true, top_logprobs: 2, stream: true })],
  },
  {
    name: "log-probabilities with reasoning",
    needs: ["models"],
    isValid: true,
    requests: (context) => {
      if (!hasFeature(context, "reasoning")) cannot("the model object does not list the feature `reasoning`");
      return [chat(context, { logprobs: true, reasoning_effort: "high", max_completion_tokens: 48 })];
    },
  },
];
