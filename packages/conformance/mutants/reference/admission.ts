import { budgetOf } from "./account.ts";
import type { Body, Meter } from "./answers.ts";
import type { Key } from "./keys.ts";
import type { Row } from "./mutant.ts";
import type { World } from "./world.ts";
import { fault } from "./violation.ts";
import type { Violation } from "./violation.ts";

const reserved = 10;

/** Checks a request before its body is read. */
export function enter(key: Key): Violation | undefined {
  const budget = budgetOf(key);
  if (budget) return { ...fault("insufficient_quota", null, "The budget is spent.", 402), details: { budget } };
  if (key.requests.left < 1) return limited("requests", key.requests.waitFor(1));
  if (key.running >= (key.rules.concurrency ?? Infinity)) return limited("concurrency", 1000);
  return undefined;
}

/** Takes a slot for a request, or returns the refusal. Other requests may have arrived while its body was read. */
export async function admit(world: World, key: Key, body: Body, prompt: number): Promise<Violation | undefined> {
  const { flags } = world.mutant;
  const refused = enter(key);
  if (refused) return refused;
  const tokens = tokensFor(world, key, body, prompt);
  if (tokens > key.tokens.limit) return limited("tokens", 60_000, tokens);
  if (key.tokens.left < tokens) return limited("tokens", key.tokens.waitFor(tokens));
  if (Date.now() < world.engine.downUntilMs && flags?.has("stand-in") !== true && body["model"] === "reference/toy") {
    return { ...fault("service_unavailable", null, "The engine is not ready.", 503), headers: waits(2000) };
  }
  if (world.running >= world.settings.slots) {
    if (world.waiting >= world.settings.queueLength && flags?.has("full-queue-waits") !== true) {
      return { ...fault("capacity_exhausted", null, "The model is busy.", 429), headers: waits(2000) };
    }
    world.waiting += 1;
    while (world.running >= world.settings.slots) await new Promise((resolve) => setTimeout(resolve, 20));
    world.waiting -= 1;
  }
  key.requests.take(1);
  key.tokens.take(tokens);
  key.running += 1;
  world.running += 1;
  return undefined;
}

/** The tokens that a request reserves. Without a maximum they are at most the limit, if that is above the prompt. */
function tokensFor({ mutant }: World, key: Key, body: Body, prompt: number): number {
  const isNamed = typeof (body["max_completion_tokens"] ?? body["max_tokens"]) === "number";
  if (!isNamed && mutant.flags?.has("maximum-reserved-whole") === true) return prompt + 16_384;
  const { limit } = key.tokens;
  return isNamed || prompt >= limit ? prompt + reserved : Math.min(prompt + reserved, limit);
}

/** @param requested the requested amount, if that alone is above the limit */
function limited(limit: string, waitMs: number, requested?: number): Violation {
  const isHopeless = requested !== undefined || waitMs > 60_000;
  const headers = isHopeless ? { ...waits(waitMs), "x-should-retry": "false" } : waits(waitMs);
  return {
    ...fault("rate_limit_exceeded", null, `The limit of ${limit} is reached.`, 429),
    details: { limit, ...(requested !== undefined && { requested }) },
    headers,
  };
}

const waits = (ms: number): Record<string, string> => ({
  "retry-after": String(Math.max(1, Math.ceil(ms / 1000))),
  "retry-after-ms": String(ms),
});

/** Releases the slot, and the reserved tokens that were not used. */
export function release(world: World, key: Key, meter: Meter, outcome: Row["outcome"]): void {
  world.running -= 1;
  key.tokens.take(meter.completion - reserved);
  if (world.mutant.flags?.has("place-leaks") === true && outcome !== "complete") return;
  key.running -= 1;
}
