import type { Command } from "commander";
import type { KeyChange } from "../accounts/keys/key-store.ts";
import { findModel, suggestIds } from "../config/find-model.ts";
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

export const or =
  <T>(word: string, read: (text: string) => T) =>
  (text: string): OrRemoved<T> =>
    text === word ? removed : read(text);

/** Returns the rules that were given, but the group. @throws {Error} for a model that is not served */
export function rulesOf({ models, expires, ...flags }: RuleFlags, config: Config): KeyChange {
  const { name, requestsPerMinute, tokensPerMinute, concurrency, weight, budgetUsd, monthlyBudgetUsd } = flags;
  const rules = {
    name,
    models: typeof models === "object" ? models.map((model) => idOf(model, config)) : models,
    requestsPerMinute,
    tokensPerMinute,
    concurrency,
    weight,
    budgetUsd,
    monthlyBudgetUsd,
    expiresMs: expires,
  };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  // The object has only names of `rules`.
  return Object.fromEntries(given.map(([rule, value]) => [rule, value === removed ? undefined : value])) as KeyChange;
}

/** Returns a warning for each limit of a key that is too small for some requests, which would never be admitted. */
export function smallLimitsOf(
  { models, tokensPerMinute, budgetUsd, monthlyBudgetUsd }: KeyChange,
  config: Config,
): readonly string[] {
  const { reservedTokens } = config;
  const served = config.models.filter(({ id }) => models?.includes(id) ?? true);
  const [least, useful] = [cheapestUsd(served, 1), cheapestUsd(served, reservedTokens)];
  const budgets = [budgetUsd, monthlyBudgetUsd].filter((budget) => budget !== undefined);
  const isFewTokens = tokensPerMinute !== undefined && tokensPerMinute <= reservedTokens;
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

/** Returns the id of the model with this name. Keys store ids of models, not their other names. */
function idOf(name: string, { models }: Config): string {
  const model = findModel(models, name);
  const offered = new Intl.ListFormat("en").format(models.map(({ id }) => id));
  if (!model) throw new Error(`There is no model ${name}. ${suggestIds(models, name)} There are ${offered}.`);
  return model.id;
}
