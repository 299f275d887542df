import { randomUUID } from "node:crypto";
import type { Check, Step } from "../../judge/check.ts";
import { cannot, must } from "../../judge/finding.ts";
import { completionOf, numberAt, usageOf } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import { needsKey } from "../../requests/keys.ts";
import type { Answer } from "../../wire/answer.ts";

/** Longer than the blocks in which engines cache prompts. */
const repeats = 60;

const cachedIn = (answer: Answer): number => {
  completionOf(answer);
  return numberAt(usageOf(answer), "/prompt_tokens_details/cached_tokens");
};

/** It runs after the requests that use up the concurrency of the second key. */
export const cachedPromptStep: Step = {
  name: "one prompt of two keys",
  needs: ["models"],
  isValid: true,
  when: "last",
  requests: (context) => {
    needsKey(context, "concurrency");
    const members = { ...say(`${randomUUID()} ${"Count the words. ".repeat(repeats)}`), max_completion_tokens: 1 };
    const [mine, theirs] = [chat(context, members), chat(context, members, { key: "concurrency" })];
    return [mine, mine, theirs];
  },
};

export const cachedPromptCheck: Check = {
  clause: "RESP-24",
  how: "Sends one long prompt twice with one key, and then with another key.",
  uses: [cachedPromptStep.name],
  judge: (context) => {
    const [, again, theirs] = context.answers(cachedPromptStep.name);
    if (!again || !theirs) cannot("not answered");
    const [own, others] = [cachedIn(again), cachedIn(theirs)];
    must(others === 0, theirs, "0 cached tokens for the other key", `${others}`);
    return `${own} cached tokens for the same key, 0 for the other`;
  },
};
