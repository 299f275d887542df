import { addUsd } from "../money/price.ts";
import type { TokenColumns } from "./token-columns.ts";
import type { LedgerEntry } from "./usage-ledger.ts";

/** Sums of usage. Open requests count with the usage of their last checkpoint. */
export interface UsageCounts extends TokenColumns {
  readonly requests: number;
  /** US dollars, exact. */
  readonly cost_usd: string;
}

/** A group, and the sums of its entries. */
export type UsageSum = readonly [group: string, counts: UsageCounts];

/** Returns the group of an entry. Days are in UTC. A key without a group has an empty one. */
const groupOf = {
  key: ({ keyId }: LedgerEntry) => keyId,
  model: ({ model }: LedgerEntry) => model,
  day: ({ startedMs }: LedgerEntry) => new Date(startedMs).toISOString().slice(0, 10),
  group: ({ groupIds: [own = ""] = [] }: LedgerEntry) => own,
};

export type Grouping = keyof typeof groupOf;

export const groupings: readonly Grouping[] = ["key", "model", "day", "group"];

/** Adds up entries by group, one by one. @returns the sums, sorted by group */
export async function sumUsage(entries: AsyncIterable<LedgerEntry>, by: Grouping): Promise<UsageSum[]> {
  const sums = new Map<string, UsageCounts>();
  for await (const entry of entries) {
    const group = groupOf[by](entry);
    sums.set(group, add(sums.get(group) ?? nothing, entry));
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const nothing: UsageCounts = {
  requests: 0,
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: "0",
};

const add = (sum: UsageCounts, { usage, costUsd }: LedgerEntry): UsageCounts => ({
  requests: sum.requests + 1,
  prompt_tokens: sum.prompt_tokens + usage.promptTokens,
  cached_tokens: sum.cached_tokens + usage.cachedTokens,
  completion_tokens: sum.completion_tokens + usage.completionTokens,
  reasoning_tokens: sum.reasoning_tokens + usage.reasoningTokens,
  cost_usd: addUsd(sum.cost_usd, costUsd),
});
