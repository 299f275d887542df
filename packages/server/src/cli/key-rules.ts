import type { components } from "@parley/contract/admin-types";
import type { Command } from "commander";
import type { Config } from "../config/read-config.ts";
import { isAtLeastUsd, priceOf } from "../accounts/money/price.ts";
import { readFuture, readList, readUsd, readWeight, readWhole } from "./read-argument.ts";

/** The value of a flag that removes a rule. */
export const removed = Symbol("removed");
export type OrRemoved<T> = T | typeof removed;

export interface RuleFlags {
  readonly name?: string;
  readonly models?: OrRemoved<readonly string[]>;
  readonly requestsPerMinute?: OrRemoved<number>;
  readonly tokensPerMinute?: OrRemoved<number>;
  readonly concurrency?: OrRemoved<number>;
  readonly weight?: OrRemoved<number>;
  readonly budgetUsd?: OrRemoved<string>;
  readonly monthlyBudgetUsd?: OrRemoved<string>;
  readonly expires?: OrRemoved<number>;
  /** The id or name of a group. */
  readonly group?: OrRemoved<string>;
}

export interface RaiseFlags {
  readonly raiseUsd?: OrRemoved<string>;
  readonly raiseUntil?: number;
}

/** Adds the flags of all rules of a key, for `create` and `update`. */
export const addRuleFlags = (command: Command): Command =>
  command
    .option("--name <name>", "its name")
    .option(
      "--models <ids>",
      "models it may use, by any of their names, separated by commas, or all",
      or("all", readList),
    )
    .option("--requests-per-minute <n>", "requests per minute, or none for the server's default", or("none", readWhole))
    .option("--tokens-per-minute <n>", "tokens per minute, or none for the server's default", or("none", readWhole))
    .option("--concurrency <n>", "requests at the same time, or none", or("none", readWhole))
    .option("--weight <n>", "its share of a busy model, 1 to 100, or none for 1", or("none", readWeight))
    .option("--budget-usd <amount>", "total budget in US dollars, or none", or("none", readUsd))
    .option(
      "--monthly-budget-usd <amount>",
      "budget per calendar month (UTC) in US dollars, or none",
      or("none", readUsd),
    )
    .option("--expires <when>", "a date (2027-01-31), a time from now (30d, 12h), or never", or("never", readFuture))
    .option("--group <group>", "the group that it belongs to (id or name), or none", or("none", String));

/** Adds the flags of a raise of the budgets of a key or a group. */
export const addRaiseFlags = (command: Command): Command =>
  command
    .option(
      "--raise-usd <amount>",
      "US dollars by which its budgets are higher until a time, or none, which ends a raise now",
      or("none", readUsd),
    )
    .option("--raise-until <when>", "a date or time (2027-01-31T12:00), or a time from now (7d, 12h)", readFuture);

/** Returns the raise that was given, as a body of the admin API. Ends the command if its amount or end is missing. */
export function raiseOf(
  { raiseUsd, raiseUntil }: RaiseFlags,
  command: Command,
): Pick<components["schemas"]["KeyUpdate"], "budget_raise"> {
  if (raiseUsd === undefined && raiseUntil === undefined) return {};
  if (raiseUsd === removed && raiseUntil === undefined) return { budget_raise: null };
  if (typeof raiseUsd !== "string" || raiseUntil === undefined)
    command.error("error: a raise needs --raise-usd AMOUNT and --raise-until WHEN; --raise-usd none ends it");
  return { budget_raise: { usd: raiseUsd, until: new Date(raiseUntil).toISOString() } };
}

export const or =
  <T>(word: string, read: (text: string) => T) =>
  (text: string): OrRemoved<T> =>
    text === word ? removed : read(text);

/** Returns the rules that were given, but the group, as a body of the admin API. */
export function bodyOf(flags: RuleFlags): components["schemas"]["KeyUpdate"] {
  const {
    name,
    models,
    expires,
    requestsPerMinute,
    tokensPerMinute,
    concurrency,
    weight,
    budgetUsd,
    monthlyBudgetUsd,
  } = flags;
  const rules = {
    name,
    models,
    expires: typeof expires === "number" ? new Date(expires).toISOString() : expires,
    requests_per_minute: requestsPerMinute,
    tokens_per_minute: tokensPerMinute,
    concurrency,
    weight,
    budget_usd: budgetUsd,
    monthly_budget_usd: monthlyBudgetUsd,
  };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([rule, value]) => [rule, value === removed ? null : value]));
}

/** Returns a warning for each limit of a key that is too small for some requests, which would never be admitted. */
export function smallLimitsOf(
  key: Pick<components["schemas"]["Key"], "models" | "tokens_per_minute" | "budget_usd" | "monthly_budget_usd">,
  config: Config,
): readonly string[] {
  const { reservedTokens } = config;
  const { models, tokens_per_minute: tokensPerMinute } = key;
  const served = config.models.filter(({ id }) => models?.includes(id) ?? true);
  const [least, useful] = [cheapestUsd(served, 1), cheapestUsd(served, reservedTokens)];
  const budgets = [key.budget_usd, key.monthly_budget_usd].filter((budget) => budget !== null);
  const isFewTokens = tokensPerMinute !== null && tokensPerMinute <= reservedTokens;
  return [
    ...(isFewTokens ? [smallTokenLimit(tokensPerMinute, reservedTokens)] : []),
    ...budgets
      .filter((budget) => isAtLeastUsd("0", budget) || !isAtLeastUsd(budget, useful))
      .map((budget) =>
        isAtLeastUsd("0", budget) || !isAtLeastUsd(budget, least)
          ? `a budget of ${budget} US dollars: no request is ever admitted. The cheapest costs ${least}.`
          : `a budget of ${budget} US dollars does not pay for one answer of ${reservedTokens} tokens, which costs at least ${useful}. A request whose prompt and max_completion_tokens cost more than the budget is never admitted.`,
      ),
  ];
}

function smallTokenLimit(tokens: number, reservedTokens: number): string {
  if (tokens < 2)
    return "1 token a minute: no request is ever admitted. A prompt and an answer have at least one each.";
  return `${tokens} tokens a minute: a request whose prompt and max_completion_tokens need more than that together is never admitted (of the maximum, up to ${reservedTokens} of each choice count). An answer without a maximum ends once prompt and answer have ${tokens} tokens.`;
}

/** Returns the price of a prompt with one token and an answer with `completionTokens`, with the cheapest model. */
function cheapestUsd(models: Config["models"], completionTokens: number): string {
  const usage = { promptTokens: 1, cachedTokens: 0, completionTokens };
  const prices = models.map(({ pricing }) => priceOf(usage, pricing));
  return prices.reduce((least, price) => (isAtLeastUsd(price, least) ? least : price), prices[0] ?? "0");
}
