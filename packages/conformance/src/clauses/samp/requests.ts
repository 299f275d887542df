import { limit } from "../../contract/contract.ts";
import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot } from "../../judge/finding.ts";
import { contentOf, textAt } from "../../judge/read.ts";
import { chat, question, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { refusals } from "../../requests/refusals.ts";

export const plans = refusals([
  {
    clause: "SAMP-11",
    want: { status: 400, code: "invalid_value" },
    sample: 2,
    cases: [
      { title: "a name of letters", members: { logit_bias: { abc: 1 } } },
      { title: "a negative name", members: { logit_bias: { "-5": 1 } } },
      { title: "a name with a point", members: { logit_bias: { "1.5": 1 } } },
    ],
  },
]);

/** Twice the ids that a body has room for besides its other values. The tokens that common words begin with are among them. */
const mostTokens = 2 * (limit("maxBodyValues") - 100);
const ids = (isIn: (id: number) => boolean): Members =>
  Object.fromEntries(
    Array.from({ length: mostTokens }, (_, id) => id)
      .filter(isIn)
      .map((id) => [id, -100]),
  );

/** Token ids of which one has a text of its own in any vocabulary: an id may be unused, special, or out of a small vocabulary. */
export const forcedIds = [300, 1000, 97] as const;

const long = 24;
const one = (
  name: string,
  members: Members | ((context: Context) => Members),
  needs: readonly string[] = [],
): Step => ({
  name,
  needs: ["models", ...needs],
  isValid: true,
  requests: (context) => [
    chat(context, { max_completion_tokens: long, ...(typeof members === "function" ? members(context) : members) }),
  ],
});

/** A text from the middle of the greedy answer, which does not occur earlier in it. */
export function stopText(context: Context): string {
  const text = contentOf(context.answer("greedy"));
  const words = text.match(/\S+\s+\S+/g) ?? [];
  const found =
    words.find((word) => text.indexOf(word) > 0) ??
    text.slice(Math.floor(text.length / 2), Math.floor(text.length / 2) + 4);
  return found.length > 1 && text.indexOf(found) > 0 ? found : cannot("the greedy answer is too short to stop in it");
}

/** The most randomness that a request can ask for. With less, a confident model gives the same text for every seed. */
const wild = { temperature: 2, top_p: 1 };

/** Values so small that a float cannot hold them, or a score that is divided by them. */
const extremes: readonly Members[] = [
  { repetition_penalty: 1e-39, temperature: 1, response_format: { type: "json_object" } },
  { repetition_penalty: 1e-46, temperature: 1 },
  { repetition_penalty: 2, frequency_penalty: -2, presence_penalty: -2, temperature: 2 },
  { temperature: 1e-39, top_p: 1e-300, min_p: 1e-300, top_k: 2_147_483_647 },
];

export const steps: readonly Step[] = [
  one("greedy", {}),
  one("greedy again", {}),
  one("seeded", { seed: 4711, ...wild }),
  one("seeded again", { seed: 4711, ...wild }),
  {
    name: "seeded otherwise",
    needs: ["models"],
    isValid: true,
    requests: (context) => [1, 2, 3].map((seed) => chat(context, { seed, ...wild, max_completion_tokens: 12 })),
  },
  one("smaller max tokens", { max_completion_tokens: 6 }),
  one("a stop", (context) => ({ stop: [stopText(context), "§§§"] }), ["greedy"]),
  one("a stop as a string", (context) => ({ stop: stopText(context) }), ["greedy"]),
  one("a stop, streamed", (context) => ({ stop: [stopText(context)], stream: true }), ["greedy"]),
  one(
    "a stop from the reasoning",
    (context) => ({ stop: [wordOfReasoning(context)], reasoning_effort: "high", max_completion_tokens: 24 }),
    ["longer reasoning"],
  ),
  one("a single token", { max_completion_tokens: 1 }),
  one("even ids banned", { logit_bias: ids((id) => id % 2 === 0), max_completion_tokens: 1 }),
  one("odd ids banned", { logit_bias: ids((id) => id % 2 === 1), max_completion_tokens: 1 }),
  {
    name: "a forced id",
    needs: ["models"],
    isValid: true,
    requests: (context) =>
      forcedIds.flatMap((id) =>
        [question, "What is the sea?"].map((content) =>
          chat(context, { ...say(content), logit_bias: { [id]: 100 }, max_completion_tokens: 3 }),
        ),
      ),
  },
  one("a foreign id", { logit_bias: { 999_999_999: 100, 2_000_000_000: -100 } }),
  one("top_k 1", { top_k: 1, temperature: 1 }),
  one("min_p 1", { min_p: 1, temperature: 1 }),
  one("a very small top_p", { top_p: 0.000001, temperature: 1 }),
  {
    name: "values near their bounds",
    needs: ["models"],
    requests: (context) => extremes.map((members) => chat(context, { max_completion_tokens: long, ...members })),
  },
];

function wordOfReasoning(context: Context): string {
  const reasoning = textAt(context.answer("longer reasoning").json, "/choices/0/message/reasoning") ?? "";
  return reasoning.match(/\p{L}{4,}/u)?.[0] ?? cannot("the reasoning has no words");
}
