import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot } from "../../judge/finding.ts";
import { givenCompletion } from "../../judge/read.ts";
import { chat, httpRequest } from "../../requests/chat-request.ts";
import { needsKey } from "../../requests/keys.ts";
import type { Answer } from "../../wire/answer.ts";
import type { Behaviour, HttpRequest } from "../../wire/http-request.ts";

/** An id that no service gives to a request. */
export const unknownId = "conformance-none";

const receiptRequest = (context: Context, id: string, key = "key", behaviour?: Behaviour): HttpRequest => ({
  ...httpRequest(context, "GET", `${context.profile.basePath}/usage/${encodeURIComponent(id)}`, [
    ["Authorization", `Bearer {${key}}`],
  ]),
  ...(behaviour && { behaviour }),
});

const keyRequest = (context: Context, key = "key"): HttpRequest =>
  httpRequest(context, "GET", `${context.profile.basePath}/key`, [["Authorization", `Bearer {${key}}`]]);

const requestIdOf = (answer: Answer): string =>
  answer.header("x-request-id") ?? cannot(`"${answer.name}" has no x-request-id`);

/** A second key that may ask. */
function otherKey({ profile }: Context): string {
  const role = (["restricted", "concurrency", "tokens", "requests"] as const).find((one) =>
    profile.keyRoles.includes(one),
  );
  return role ?? cannot("name a second key, such as `restricted`, in the conformance profile");
}

export const steps: readonly Step[] = [
  {
    name: "answers with receipts",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(context, { max_completion_tokens: 3 }),
      chat(context, { max_completion_tokens: 3, stream: true, stream_options: { include_usage: true } }),
    ],
  },
  {
    name: "receipts",
    needs: ["models", "answers with receipts"],
    requests: (context) =>
      context.answers("answers with receipts").map((answer) => {
        givenCompletion(answer);
        // The record of a stream may be closed a moment after its last byte.
        return receiptRequest(context, requestIdOf(answer), "key", { delayMs: 300 });
      }),
  },
  {
    name: "an unknown receipt",
    needs: ["models"],
    requests: (context) => [receiptRequest(context, unknownId)],
  },
  {
    name: "a receipt of another key",
    needs: ["models", "answers with receipts"],
    requests: (context) => {
      const [answer] = context.answers("answers with receipts");
      if (!answer) cannot("no request was answered");
      const key = otherKey(context);
      return [receiptRequest(context, requestIdOf(answer), key), receiptRequest(context, unknownId, key)];
    },
  },
  {
    name: "a refusal without a receipt",
    needs: ["models"],
    isRefused: true,
    requests: (context) => [chat(context, { temperature: 3 })],
  },
  {
    name: "the receipt of a refusal",
    needs: ["models", "a refusal without a receipt"],
    requests: (context) => [receiptRequest(context, requestIdOf(context.answer("a refusal without a receipt")))],
  },
  { name: "the own key", needs: ["models"], requests: (context) => [keyRequest(context)] },
  {
    name: "the own key, its requests used up",
    needs: ["models", "beyond the requests"],
    when: "background",
    how: "side by side",
    requests: (context) =>
      Array.from({ length: needsKey(context, "requests", "requestsPerMinute") + 2 }, (_, index) =>
        index % 2 === 0 ? keyRequest(context, "requests") : receiptRequest(context, unknownId, "requests"),
      ),
  },
  {
    name: "the own key, its budget spent",
    needs: ["models"],
    requests: (context) => {
      needsKey(context, "spent");
      return [keyRequest(context, "spent")];
    },
  },
  {
    name: "a raised budget",
    needs: ["models"],
    requests: (context) => {
      needsKey(context, "raised");
      return [keyRequest(context, "raised"), chat(context, { max_completion_tokens: 1 }, { key: "raised" })];
    },
  },
];
