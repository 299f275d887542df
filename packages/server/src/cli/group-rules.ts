import type { components } from "@parley/contract/admin-types";
import { Option } from "commander";
import type { Command } from "commander";
import { periods } from "../accounts/money/period.ts";
import type { Period } from "../accounts/money/period.ts";
import { bodyOf, or, removed } from "./key-rules.ts";
import type { OrRemoved } from "./key-rules.ts";
import { readList, readUsd, readWeight, readWhole } from "./read-argument.ts";

type Schemas = components["schemas"];

export interface GroupFlags {
  readonly name?: string;
  readonly parent?: string;
  readonly budgetUsd?: OrRemoved<string>;
  readonly period?: Period | "none";
  readonly timeZone?: string;
  readonly maxKeys?: OrRemoved<number>;
  readonly keyModels?: OrRemoved<readonly string[]>;
  readonly keyRequestsPerMinute?: OrRemoved<number>;
  readonly keyTokensPerMinute?: OrRemoved<number>;
  readonly keyConcurrency?: OrRemoved<number>;
  readonly keyWeight?: OrRemoved<number>;
  readonly keyBudgetUsd?: OrRemoved<string>;
  readonly keyMonthlyBudgetUsd?: OrRemoved<string>;
}

/** Adds the flags of all rules of a group, for `create` and `update`. */
export const addGroupFlags = (command: Command): Command =>
  command
    .option("--name <name>", "its name, which no other group has")
    .option("--parent <group>", "the group that it belongs to (id or name), or none; groups nest once")
    .option("--budget-usd <amount>", "US dollars of all its keys and of the groups in it, or none", or("none", readUsd))
    .addOption(
      new Option("--period <period>", "the budget starts again with each; none: never").choices([...periods, "none"]),
    )
    .option("--time-zone <zone>", "whose midnights begin the periods, such as Europe/Berlin or UTC")
    .option("--max-keys <n>", "keys that its owner may make, or none", or("none", readWhole))
    .option("--key-models <ids>", "models that its owner may give to a key, or all", or("all", readList))
    .option(
      "--key-requests-per-minute <n>",
      "the most that its owner may give to a key, or none",
      or("none", readWhole),
    )
    .option("--key-tokens-per-minute <n>", "the same of tokens per minute", or("none", readWhole))
    .option("--key-concurrency <n>", "the same of requests at the same time", or("none", readWhole))
    .option("--key-weight <n>", "the same of weights", or("none", readWeight))
    .option("--key-budget-usd <amount>", "the same of total budgets", or("none", readUsd))
    .option("--key-monthly-budget-usd <amount>", "the same of monthly budgets", or("none", readUsd));

/**
 * Returns the rules that were given, but the parent, as a body of the admin API.
 * @param before the ceiling so far
 */
export function groupBodyOf(flags: GroupFlags, before: Schemas["KeyCeiling"] = null): Schemas["GroupUpdate"] {
  const { name, budgetUsd, period, timeZone, maxKeys } = flags;
  const rules = { name, budget_usd: budgetUsd, time_zone: timeZone, max_keys: maxKeys };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  const ceiling = ceilingOf(flags);
  return {
    ...Object.fromEntries(given.map(([rule, value]) => [rule, value === removed ? null : value])),
    ...(period === "none" ? { period: null, time_zone: null } : period && { period }),
    ...(Object.keys(ceiling).length > 0 && { key_ceiling: joined({ ...before, ...ceiling }) }),
  };
}

const ceilingOf = (flags: GroupFlags): Schemas["KeyUpdate"] =>
  bodyOf({
    ...(flags.keyModels && { models: flags.keyModels }),
    ...(flags.keyRequestsPerMinute && { requestsPerMinute: flags.keyRequestsPerMinute }),
    ...(flags.keyTokensPerMinute && { tokensPerMinute: flags.keyTokensPerMinute }),
    ...(flags.keyConcurrency && { concurrency: flags.keyConcurrency }),
    ...(flags.keyWeight && { weight: flags.keyWeight }),
    ...(flags.keyBudgetUsd && { budgetUsd: flags.keyBudgetUsd }),
    ...(flags.keyMonthlyBudgetUsd && { monthlyBudgetUsd: flags.keyMonthlyBudgetUsd }),
  });

/** @returns null if no rule is left */
const joined = (ceiling: object): Schemas["KeyCeilingRules"] => {
  const left = Object.entries(ceiling).filter(([, value]) => value !== null);
  return left.length === 0 ? null : Object.fromEntries(left);
};
