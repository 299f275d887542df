import type { Body, Meter } from "./answers.ts";
import { errorReply } from "./edge.ts";
import type { Bucket, Key } from "./keys.ts";
import { isOffered, modelIds, prices } from "./models.ts";
import type { Reply, Row } from "./mutant.ts";
import { fault } from "./violation.ts";
import type { World } from "./world.ts";

const usagePath = "/v1/usage/";

export const isAccountPath = (path: string): boolean => path === "/v1/key" || path.startsWith(usagePath);

const outcomes: Readonly<Record<Row["outcome"], string>> = {
  complete: "complete",
  left: "cancelled",
  cut: "cancelled",
  failed: "failed",
  died: "abandoned",
};

/** Keeps the receipt of an ended request. */
export function keepReceipt(world: World, key: Key, row: Row, body: Body, meter?: Meter): void {
  const { cost_usd: _cost, ...usage } = meter?.usage ?? {};
  const receipt = {
    object: "receipt",
    id: row.id,
    model: typeof body["model"] === "string" ? body["model"] : "",
    stream: body["stream"] === true,
    outcome: outcomes[row.outcome],
    started_at: new Date(Date.now() - 1).toISOString(),
    ended_at: new Date().toISOString(),
    usage,
    pricing: prices,
    cost_usd: row.cost_usd,
  };
  world.receipts.set(row.id, { key, receipt });
}

/** Answers the operations by which a caller sees its own key and requests. */
export function accountReply(world: World, path: string, key: Key): Reply {
  const { flags } = world.mutant;
  if (flags?.has("lookups-count") === true) {
    if (key.requests.left < 1)
      return errorReply({
        ...fault("rate_limit_exceeded", null, "The limit of requests is reached.", 429),
        headers: { "retry-after": "5", "retry-after-ms": "5000" },
      });
    key.requests.take(1);
  }
  if (path === "/v1/key") return { status: 200, headers: {}, body: stateOf(key) };
  const id = decodeURIComponent(path.slice(usagePath.length));
  const found = world.receipts.get(id);
  const isOwn = found?.key === key || flags?.has("receipts-for-all") === true;
  if (found && isOwn) return { status: 200, headers: {}, body: found.receipt };
  const says = found && flags?.has("foreign-receipt-told") === true ? "belongs to another key" : "has no receipt";
  return errorReply(fault("request_not_found", "request_id", `The request_id ${id} ${says}.`, 404));
}

const stateOf = (key: Key): Record<string, unknown> => ({
  object: "key",
  label: "reference",
  models: modelIds.filter((id) => isOffered(id, key)),
  limits: { requests: limitOf(key.requests), tokens: limitOf(key.tokens) },
  budgets: [budgetOf(key)].filter((budget) => budget !== undefined),
});

/** The budget of a key that cannot pay for a request. */
export function budgetOf({ rules }: Key): Record<string, string> | undefined {
  const amounts = { scope: "key", limit_usd: "0.5", usage_usd: "0.5", remaining_usd: "0" };
  const tomorrow = new Date(Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000).toISOString();
  if (rules.isSpent === true) return { ...amounts, period: "day", time_zone: "UTC", resets_at: tomorrow };
  return rules.isRaised === true ? { ...amounts, raised_usd: "0.5", raised_until: tomorrow } : undefined;
}

const limitOf = (bucket: Bucket): Record<string, unknown> => ({
  limit: bucket.limit,
  remaining: Math.max(0, Math.floor(bucket.left)),
  resets_at: new Date(Date.now() + bucket.waitFor(bucket.limit)).toISOString(),
});
