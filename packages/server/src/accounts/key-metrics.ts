import { Big } from "big.js";
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { usedShare } from "./group-metrics.ts";
import type { KeyStore } from "./keys/key-store.ts";
import type { UsageLedger } from "./ledger/usage-ledger.ts";
import { raiseAt, raisedUsd } from "./money/budget-raise.ts";
import { monthOf } from "./money/month.ts";
import type { RequestRecord } from "../observe/request-record.ts";

/** The label of all keys that have no series of their own. */
const others = "other";

export interface KeyMetricsSources {
  /** Maximum number of keys with series of their own, 1 or more. */
  readonly maxKeys: number;
  readonly keys: Pick<KeyStore, "find">;
  readonly ledger: Pick<UsageLedger, "spentUsd">;
  readonly nowMs: () => number;
}

/** Adds metrics of each key that has been used since the start. @returns a function that counts an ended request */
export function addKeyMetrics(registers: Registry[], sources: KeyMetricsSources): (record: RequestRecord) => void {
  const seen = new Set<string>();
  const counter = (name: string, help: string, ...more: string[]): Counter =>
    new Counter({ name, help, labelNames: ["key_id", ...more], registers });
  const requests = counter(
    "parley_key_requests_total",
    "Requests of a key by their outcome; refused: not admitted.",
    "outcome",
  );
  const tokens = counter("parley_key_tokens_total", "Tokens of a key by kind: prompt, completion.", "kind");
  const cost = counter("parley_key_cost_usd_total", "US dollars that a key was charged.");
  addBudgets(registers, seen, sources);
  return ({ keyId, outcome, promptTokens = 0, completionTokens = 0, costUsd = "0" }) => {
    if (keyId === undefined) return;
    if (seen.size < sources.maxKeys) seen.add(keyId);
    const key = { key_id: seen.has(keyId) ? keyId : others };
    requests.inc({ ...key, outcome: outcome ?? "refused" });
    tokens.inc({ ...key, kind: "prompt" }, promptTokens);
    tokens.inc({ ...key, kind: "completion" }, completionTokens);
    cost.inc(key, Number(costUsd));
  };
}

/** Adds the state of the budgets, which is read from the store at each scrape. While the store is away, there is none. */
function addBudgets(registers: Registry[], seen: ReadonlySet<string>, sources: KeyMetricsSources): void {
  let reading: ReturnType<typeof readAll> | undefined;
  /** Both metrics of a scrape take the same reading. */
  const readOnce = (): ReturnType<typeof readAll> =>
    (reading ??= readAll(seen, sources)
      .catch(() => [])
      .finally(() => (reading = undefined)));
  const add = (name: string, help: string, valueOf: (budgetUsd: string, spentUsd: string) => number): void => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ["key_id", "budget"],
      registers,
      collect: async () => {
        const budgets = await readOnce();
        gauge.reset();
        for (const { labels, budgetUsd, spentUsd } of budgets) gauge.set(labels, valueOf(budgetUsd, spentUsd));
      },
    });
  };
  add(
    "parley_key_budget_remaining_usd",
    "US dollars of a budget of a key, minus the cost of its ended requests. Budgets: total, month.",
    (budgetUsd, spentUsd) => new Big(budgetUsd).minus(spentUsd).toNumber(),
  );
  add(
    "parley_key_budget_used_ratio",
    "Cost of the ended requests of a key, as a share of a budget: 1 is all of it. Budgets: total, month.",
    (budgetUsd, spentUsd) => usedShare(spentUsd, budgetUsd),
  );
}

/** Reads the budgets one after the other, so a request waits for at most one of these queries. */
async function readAll(ids: Iterable<string>, sources: KeyMetricsSources) {
  const budgets: Awaited<ReturnType<typeof readBudgets>> = [];
  for (const id of ids) budgets.push(...(await readBudgets(id, sources)));
  return budgets;
}

async function readBudgets(id: string, { keys, ledger, nowMs }: KeyMetricsSources) {
  const key = await keys.find(id);
  const raise = raiseAt(key?.budgetRaise, nowMs());
  const read = async (budget: string, budgetUsd: string | undefined, month?: string) =>
    budgetUsd === undefined
      ? []
      : [{ labels: { key_id: id, budget }, budgetUsd, spentUsd: await ledger.spentUsd(id, month) }];
  return [
    ...(await read("total", raisedUsd(key?.budgetUsd, raise))),
    ...(await read("month", raisedUsd(key?.monthlyBudgetUsd, raise), monthOf(nowMs()))),
  ];
}
