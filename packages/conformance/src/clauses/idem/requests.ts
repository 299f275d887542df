import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot } from "../../judge/finding.ts";
import { chat, play } from "../../requests/chat-request.ts";
import type { ChatOptions, Members } from "../../requests/chat-request.ts";
import { needsScript, scripted } from "../../requests/scripted-request.ts";
import type { Behaviour, HttpRequest } from "../../wire/http-request.ts";

/** Keys of this run: a service may remember those of earlier runs for a day. */
const run = crypto.randomUUID();

const keyed = (context: Context, name: string, members: Members = {}, options: ChatOptions = {}): HttpRequest =>
  chat(
    context,
    { max_completion_tokens: 4, ...members },
    { ...options, headers: [...(options.headers ?? []), ["Idempotency-Key", `${run} ${name}`]] },
  );

const withHeaders = (context: Context, ...values: readonly string[]): HttpRequest =>
  chat(context, { max_completion_tokens: 1 }, { headers: values.map((value) => ["Idempotency-Key", value] as const) });

export const steps: readonly Step[] = [
  {
    name: "a repeated call",
    needs: ["models"],
    isRecorded: true,
    requests: (context) => [keyed(context, "plain"), keyed(context, "plain")],
  },
  {
    name: "a repeated stream",
    needs: ["models"],
    requests: (context) => [
      keyed(context, "stream", { stream: true }),
      keyed(context, "stream", { stream: true }, { behaviour: { delayMs: 300 } }),
    ],
  },
  scripted(
    "a repetition of a running call",
    "slow",
    {},
    {
      how: "side by side",
      requests: (context) => {
        needsScript(context);
        const members = { ...play("conformance-slow"), stream: true, max_completion_tokens: undefined };
        return [
          keyed(context, "running", members),
          keyed(context, "running", members, { behaviour: { delayMs: 800 } }),
        ];
      },
    },
  ),
  {
    name: "a repetition of a call that was left",
    needs: ["models"],
    when: "background",
    how: "side by side",
    isRecorded: true,
    requests: (context) => {
      needsScript(context);
      const members = { ...play("conformance-slow"), max_completion_tokens: undefined };
      const asked = (behaviour: Behaviour): HttpRequest => keyed(context, "left", members, { behaviour });
      return [
        asked({ disconnectAfterMs: 2000 }),
        // It shows that the first one runs.
        asked({ delayMs: 800 }),
        asked({ delayMs: 5000 }),
        asked({ delayMs: 9000 }),
      ];
    },
  },
  {
    name: "a key with another body",
    needs: ["models", "a repeated call"],
    requests: (context) => [keyed(context, "plain", { temperature: 0.5 })],
  },
  {
    name: "a key after a failure",
    needs: ["models"],
    requests: (context) => [keyed(context, "failed", { model: "conformance/none" }), keyed(context, "failed")],
  },
  {
    name: "one name of two keys",
    needs: ["models", "a repeated call"],
    requests: (context) => {
      const role = (["restricted", "concurrency", "tokens", "requests"] as const).find((one) =>
        context.profile.keyRoles.includes(one),
      );
      if (role === undefined) cannot("name a second key, such as `restricted`, in the conformance profile");
      return [keyed(context, "plain", {}, { key: role })];
    },
  },
  {
    name: "malformed idempotency keys",
    needs: ["models"],
    requests: (context) => [
      withHeaders(context, ""),
      withHeaders(context, "x".repeat(256)),
      withHeaders(context, "one", "one"),
    ],
  },
];
