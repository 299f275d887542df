import type { Step } from "../../judge/check.ts";
import { cannot } from "../../judge/finding.ts";
import { tokensOf } from "../../judge/read.ts";
import { chat, play } from "../../requests/chat-request.ts";
import { needsKey } from "../../requests/keys.ts";
import { withoutReasoning } from "../../requests/reasoning-request.ts";
import { needsScript, scripted } from "../../requests/scripted-request.ts";

export const steps: readonly Step[] = [
  {
    name: "beyond the requests",
    needs: ["models"],
    how: "side by side",
    when: "background",
    requests: (context) =>
      Array.from({ length: needsKey(context, "requests", "requestsPerMinute") + 1 }, () =>
        chat(context, { max_completion_tokens: 1 }, { key: "requests" }),
      ),
  },
  {
    name: "after the wait",
    needs: ["models", "beyond the requests"],
    when: "background",
    requests: (context) => {
      const refused = context.answers("beyond the requests").filter(({ status }) => status === 429);
      const waits = refused.map((answer) =>
        Number(answer.header("retry-after-ms") ?? Number(answer.header("retry-after")) * 1000),
      );
      const delayMs = Math.max(...waits);
      if (!(delayMs >= 0 && delayMs <= 90_000)) cannot("no 429 named a wait that this run has the time for");
      return [chat(context, { max_completion_tokens: 1 }, { key: "requests", behaviour: { delayMs } })];
    },
  },
  {
    name: "few tokens and no maximum",
    needs: ["models"],
    isValid: true,
    requests: (context) => {
      needsKey(context, "tokens", "tokensPerMinute");
      const stop = [" ", ".", "e", "a"];
      const members = { max_completion_tokens: undefined, stop, ...withoutReasoning(context) };
      return [chat(context, members, { key: "tokens" })];
    },
  },
  {
    name: "beyond the tokens",
    needs: ["models", "plain", "few tokens and no maximum"],
    when: "background",
    requests: (context) => {
      const limit = needsKey(context, "tokens", "tokensPerMinute");
      const count = Math.ceil(limit / tokensOf(context.answer("plain"), "prompt_tokens")) + 1;
      if (count > 60) cannot("the limit of the key `tokens` is too high to be reached here");
      const content = "tree ".repeat(limit * 2);
      return [
        chat(context, { messages: [{ role: "user", content }], max_completion_tokens: 1 }, { key: "tokens" }),
        ...Array.from({ length: count }, () => chat(context, { max_completion_tokens: 1 }, { key: "tokens" })),
      ];
    },
  },
  scripted(
    "a debt of tokens",
    "long",
    {},
    {
      needs: ["models", "beyond the tokens", "after the tokens"],
      when: "background",
      how: "on one connection",
      requests: (context) => {
        needsKey(context, "tokens", "tokensPerMinute");
        needsScript(context);
        const debt = chat(
          context,
          { ...play("conformance-long"), max_completion_tokens: 1024 },
          { key: "tokens", behaviour: { delayMs: 20_000 } },
        );
        return [debt, chat(context, { max_completion_tokens: 1 }, { key: "tokens" })];
      },
    },
  ),
  {
    name: "after the tokens",
    needs: ["models", "beyond the tokens"],
    when: "background",
    requests: (context) => {
      const waits = context
        .answers("beyond the tokens")
        .slice(1)
        .map((answer) => Number(answer.header("retry-after-ms") ?? 0));
      const delayMs = Math.max(0, ...waits);
      if (delayMs > 90_000) cannot("the wait is too long for this run");
      return [chat(context, { max_completion_tokens: 1 }, { key: "tokens", behaviour: { delayMs } })];
    },
  },
  scripted(
    "beyond the concurrency",
    "slow",
    {},
    {
      how: "side by side",
      when: "background",
      requests: (context) => {
        const slots = needsKey(context, "concurrency", "concurrency");
        needsScript(context);
        const slow = Array.from({ length: slots }, () =>
          chat(context, { ...play("conformance-slow"), stream: true }, { key: "concurrency" }),
        );
        return [
          ...slow,
          chat(context, { max_completion_tokens: 1 }, { key: "concurrency", behaviour: { delayMs: 1000 } }),
        ];
      },
    },
  ),
  scripted(
    "slots released",
    "slow",
    {},
    {
      needs: ["models", "beyond the concurrency"],
      when: "background",
      requests: (context) => {
        const slots = needsKey(context, "concurrency", "concurrency");
        needsScript(context);
        const key = "concurrency";
        const each = [
          chat(context, { max_completion_tokens: 1 }, { key }),
          chat(context, { ...play("conformance-early-failure") }, { key }),
          chat(context, { ...play("conformance-late-failure"), stream: true }, { key }),
          chat(
            context,
            { ...play("conformance-endless"), stream: true, max_completion_tokens: undefined },
            { key, behaviour: { disconnectAfterEvents: 3 } },
          ),
        ];
        const all = each.flatMap((one) => Array.from({ length: slots }, () => one));
        return [...all, chat(context, { max_completion_tokens: 1 }, { key, behaviour: { delayMs: 1200 } })];
      },
    },
  ),
  scripted(
    "a full queue",
    "slow",
    {},
    {
      when: "last",
      how: "side by side",
      requests: (context) => {
        const { slots, queueLength } = context.profile;
        if (slots === undefined || queueLength === undefined)
          cannot("name `slots` and `queueLength` in the conformance profile");
        needsScript(context);
        const slow = Array.from({ length: slots + queueLength }, () =>
          chat(context, { ...play("conformance-slow"), stream: true, max_completion_tokens: undefined }),
        );
        return [
          ...slow,
          ...[800, 850].map((delayMs) => chat(context, { max_completion_tokens: 1 }, { behaviour: { delayMs } })),
        ];
      },
    },
  ),
  {
    name: "a spent budget",
    needs: ["models"],
    requests: (context) => {
      needsKey(context, "spent");
      return [chat(context, { max_completion_tokens: 1 }, { key: "spent" })];
    },
  },
  {
    name: "a spent budget and a faulty body",
    needs: ["models"],
    requests: (context) => {
      needsKey(context, "spent");
      return [chat(context, { temperature: 7 }, { key: "spent" })];
    },
  },
];
