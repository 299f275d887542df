import type { ScriptStep } from "@parley/inference";
import { chat, play } from "../ask.ts";
import { bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

const choices = [0, 1, 2, 3, 4, 5, 6, 7];
const tokens = 16_384;
const huge: readonly ScriptStep[] = [
  ...choices.map((choice) => ({ role: true as const, choice })),
  { repeat: tokens, steps: choices.map((choice) => ({ text: " word", choice })) },
  ...choices.map((choice) => ({ finish: "length" as const, choice })),
];

export const answersHuge: Row = {
  name: "answers/huge",
  action: "12 plain answers at once: 8 choices of 16,384 tokens with 20 top_logprobs",
  engine: "scripted",
  granted: { bytes: 2 ** 28, what: "answers that are collected (PARLEY_TOTAL_ANSWER_BYTES)" },
  scenarios: { huge },
  seconds: 40,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const answers = new Tally();
    let most = 0;
    await repeatedly(12, signal, async () => {
      const members = { ...play("huge"), n: 8, max_tokens: tokens, logprobs: true, top_logprobs: 20 };
      const { status, text } = await chat(target.origin, token, members, { signal });
      answers.add(status);
      most = Math.max(most, text.length);
    });
    return [
      bound("only 200, 400 and 429", answers.holdsOnly(200, 400, 429), String(answers)),
      figure("megabytes of the largest answer", Math.round(most / 1e6)),
    ];
  },
};
