import type { DatabaseSync } from "node:sqlite";
import { addUsd } from "./price.ts";

/** What a key, a model or a day has used; open requests count with what is known of them so far. */
export interface UsageSum {
  readonly group: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
  /** US dollars, exact. */
  readonly cost_usd: string;
}

const groupings = { key: "key_id", model: "model", day: "date(started_ms / 1000, 'unixepoch')" } as const;

/** Days are those of UTC. The money is added up here, since SQL would do it in binary fractions. */
export function sumUsage(database: DatabaseSync, by: keyof typeof groupings): UsageSum[] {
  const rows = database
    .prepare(
      `SELECT ${groupings[by]} AS grouping, prompt_tokens, completion_tokens, reasoning_tokens, cost_usd FROM requests ORDER BY 1`,
    )
    .iterate();
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const group = String(row["grouping"]);
    const sum = sums.get(group) ?? {
      group,
      requests: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      reasoning_tokens: 0,
      cost_usd: "0",
    };
    sums.set(group, {
      group,
      requests: sum.requests + 1,
      prompt_tokens: sum.prompt_tokens + Number(row["prompt_tokens"]),
      completion_tokens: sum.completion_tokens + Number(row["completion_tokens"]),
      reasoning_tokens: sum.reasoning_tokens + Number(row["reasoning_tokens"]),
      cost_usd: addUsd(sum.cost_usd, String(row["cost_usd"])),
    });
  }
  return [...sums.values()];
}
