import type { Command } from "commander";
import type { KeyChange } from "../auth/key-store.ts";
import { findModel, suggestIds } from "../config/find-model.ts";
import type { Config } from "../config/read-config.ts";
import { isAtLeastUsd, priceOf } from "../metering/price.ts";
import { readFuture, readList, readUsd, readWeight, readWhole } from "./read-argument.ts";

/** What a flag gives that takes a rule away. */
const removed = Symbol("removed");
type OrRemoved<T> = T | typeof removed;

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
}

/** Every rule that a key may have, once, for the commands that make keys and those that change them. */
export const addRuleFlags = (command: Command): Command =>
  command
    .option("--name <name>", "what to call it")
    .option(
      "--models <ids>",
      "models it may use, by any of their names, separated by commas, or all",
      or("all", readList),
    )
    .option("--requests-per-minute <n>", "its own limit of requests, or none", or("none", readWhole))
    .option("--tokens-per-minute <n>", "its own limit of tokens, or none", or("none", readWhole))
    .option("--concurrency <n>", "requests at the same time, or none", or("none", readWhole))
    .option(
      "--weight <n>",
      "its share of a busy model, 1 to 100 (a key without has 1), or none",
      or("none", readWeight),
    )
    .option("--budget-usd <amount>", "what it may spend in all, in US dollars, or none", or("none", readUsd))
    .option(
      "--monthly-budget-usd <amount>",
      "what it may spend in a calendar month (UTC), in US dollars, or none",
      or("none", readUsd),
    )
    .option("--expires <when>", "a date (2027-01-31), a time from now (30d, 12h), or never", or("never", readFuture));

const or =
  <T>(word: string, read: (text: string) => T) =>
  (text: string): OrRemoved<T> =>
    text === word ? removed : read(text);

/** The rules that were given, and no others. @throws {Error} for a model that is not served */
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
  // The names are those of the rules above.
  return Object.fromEntries(given.map(([rule, value]) => [rule, value === removed ? undefined : value])) as KeyChange;
}

/** Limits of a key that are too small for ordinary requests, each with the requests that it can never serve. */
export function smallLimitsOf(
  { models, tokensPerMinute, budgetUsd, monthlyBudgetUsd }: KeyChange,
  config: Config,
): readonly string[] {
  const { reservedTokens } = config;
  const tokens =
    tokensPerMinute === undefined || tokensPerMinute > reservedTokens
      ? []
      : [
          `${tokensPerMinute} tokens a minute: a request whose prompt and max_completion_tokens need more than that together is never admitted (of the maximum, up to ${reservedTokens} of each choice count). An answer without a maximum ends once prompt and answer have ${tokensPerMinute} tokens.`,
        ];
  const least = cheapestUsd(config.models.filter(({ id }) => models?.includes(id) ?? true));
  const budgets = [budgetUsd, monthlyBudgetUsd].filter((budget) => budget !== undefined);
  return [
    ...tokens,
    ...budgets
      .filter((budget) => isAtLeastUsd("0", budget) || !isAtLeastUsd(budget, least))
      .map((budget) => `a budget of ${budget} US dollars: no request is ever admitted. The cheapest costs ${least}.`),
  ];
}

/** The price of a prompt of one token and an answer of one token, with the cheapest model. */
function cheapestUsd(models: Config["models"]): string {
  const prices = models.map(({ pricing }) => priceOf({ prompt_tokens: 1, completion_tokens: 1 }, pricing));
  return prices.reduce((least, price) => (isAtLeastUsd(price, least) ? least : price), prices[0] ?? "0");
}

/** A key is for models, whatever they are called: it keeps their ids. */
function idOf(name: string, { models }: Config): string {
  const model = findModel(models, name);
  const offered = new Intl.ListFormat("en").format(models.map(({ id }) => id));
  if (!model) throw new Error(`There is no model ${name}. ${suggestIds(models, name)} There are ${offered}.`);
  return model.id;
}
