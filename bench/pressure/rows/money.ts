import { readLedger } from "@parley/server/testing";
import { chat } from "../ask.ts";
import { bound } from "../row.ts";
import type { Attack, Finding, Row } from "../row.ts";
import { Tally } from "../sockets.ts";

const budgetUsd = "0.00001";

/** Makes `count` calls at once with a key that has a small budget. @returns the findings about its spending */
async function spendAtOnce({ target, makeKey }: Attack, count: number): Promise<Finding[]> {
  const { id, token } = await makeKey({ budgetUsd });
  const answers = new Tally();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await chat(target.origin, token, { max_tokens: 2 }).catch(() => undefined);
      answers.add(answer?.status ?? "no answer");
    }),
  );
  const entries = await readLedger(target.dataDir, { keyId: id });
  const spent = entries.reduce((sum, entry) => sum + Number(entry.cost_usd), 0);
  return [
    // A sum of floating-point numbers deviates slightly from the decimal sum.
    bound(
      `spent of ${budgetUsd} US dollars by ${count} calls`,
      spent <= Number(budgetUsd) + 1e-12,
      spent.toPrecision(6),
    ),
    bound("only 200, 402 and 429", answers.holdsOnly(200, 402, 429), String(answers)),
  ];
}

export const moneyCallsAtOnce: Row = {
  name: "money/calls-at-once",
  action: `keys with a budget of ${budgetUsd} US dollars make 120 calls at once, then 1,000`,
  engine: "scripted",
  attack: async (attack) => [...(await spendAtOnce(attack, 120)), ...(await spendAtOnce(attack, 1000))],
};
