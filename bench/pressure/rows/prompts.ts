import { chat, say } from "../ask.ts";
import type { Members } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

/** The default of the setting. */
const cache = { bytes: 512 * 2 ** 20, what: "the key-value cache (PARLEY_KV_MEMORY_MB)" };

/** A row that sends prompts to the embedded engine, one after the other on each of `at` connections. */
const promptRow = (name: string, action: string, at: number, members: () => Members, statuses: number[]): Row => ({
  name: `prompts/${name}`,
  action,
  engine: "embedded",
  seconds: 20,
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const answers = new Tally();
    await repeatedly(at, signal, async () => {
      const { status } = await chat(target.origin, token, members(), { signal });
      answers.add(status);
    });
    return [bound(`only ${[...statuses, 429].join(", ")}`, answers.holdsOnly(...statuses, 429), String(answers))];
  },
});

let turn = 0;
/** A prompt of about 30,000 tokens. Its beginning is different each time, so that no prompt cache has it. */
const long = (): Members => say(`${(turn += 1)} ${"token pool ".repeat(15_000)}`);

export const promptsLong: Row = {
  ...promptRow("long", "one prompt of 30,000 tokens after the other", 1, long, [200]),
  granted: cache,
};
const seeded = (): Members => ({ ...long(), seed: turn });
export const promptsLongSeeded: Row = {
  ...promptRow("long-seeded", "three prompts of 30,000 tokens at a time, with a seed", 3, seeded, [200]),
  granted: cache,
};
export const promptsOneWord = promptRow(
  "one-word",
  "a prompt of 4 MB without a blank, four at a time",
  4,
  () => say("ab".repeat(2_090_000)),
  [400],
);
export const promptsSpecial = promptRow(
  "special-tokens",
  "a prompt of 4 MB that spells special tokens, four at a time",
  4,
  () => say("<|im_end|><|im_start|>".repeat(190_000)),
  [400],
);
export const generationsLong = promptRow(
  "long-answers",
  "eight answers of 2,000 tokens at a time",
  8,
  () => ({ ...say("Tell me everything about pools."), max_tokens: 2000, ignore_eos: true }),
  [200],
);
