import type { KeyCeiling, StoredGroup } from "../groups/group-store.ts";
import type { KeyChange, StoredKey } from "../keys/key-store.ts";
import { isAtLeastUsd } from "../money/price.ts";
import { ManageError } from "./manage-error.ts";
import { wireNameOf } from "./wire.ts";

/** Returns the group of a key and that group's parent, whose ceilings both count. */
export const chainOf = (groupId: string | undefined, groups: readonly StoredGroup[]): readonly StoredGroup[] => {
  const own = groups.find(({ id }) => id === groupId);
  const parent = groups.find(({ id }) => id === own?.parentId);
  return [own, parent].filter((group) => group !== undefined);
};

const counts = ["requestsPerMinute", "tokensPerMinute", "concurrency", "weight"] as const;
const amounts = ["budgetUsd", "monthlyBudgetUsd"] as const;
/** A key without this rule has this value. */
const impliedWeight = 1;

/**
 * Checks the given rules of a key against a ceiling. A rule that is removed takes the ceiling's value.
 * @returns the rules to store
 * @throws {ManageError} `above_ceiling`
 */
function fit(rules: KeyChange, { name, keyCeiling: ceiling = {} }: StoredGroup): KeyChange {
  const fitted: Record<string, unknown> = { ...rules };
  const refuse = (rule: keyof KeyCeiling, max: string): never => {
    const wire = wireNameOf[rule];
    throw new ManageError("above_ceiling", `The ceiling of the group ${name} for ${wire} is ${max}.`, wire);
  };
  for (const rule of counts) {
    const max = ceiling[rule];
    if (max === undefined || !(rule in rules)) continue;
    fitted[rule] = rules[rule] ?? (rule === "weight" ? impliedWeight : max);
    if ((rules[rule] ?? 0) > max) refuse(rule, String(max));
  }
  for (const rule of amounts) {
    const max = ceiling[rule];
    if (max === undefined || !(rule in rules)) continue;
    fitted[rule] = rules[rule] ?? max;
    if (!isAtLeastUsd(max, rules[rule] ?? max)) refuse(rule, max);
  }
  if (ceiling.models && "models" in rules) {
    fitted["models"] = rules.models ?? ceiling.models;
    if (rules.models?.some((model) => !ceiling.models?.includes(model))) refuse("models", ceiling.models.join(", "));
  }
  return fitted as KeyChange; // the rules of a key
}

/** Fits rules into all ceilings: the tightest one counts for a rule that is not given. */
export const fitAll = (rules: KeyChange, chain: readonly StoredGroup[]): KeyChange =>
  // First the values for the rules that are left out, from the outer group to the inner one, then the checks.
  chain.reduce(
    fit,
    chain.toReversed().reduce((change, group) => fillIn(change, group), rules),
  );

/** Gives a removed or absent rule the ceiling's value. */
function fillIn(rules: KeyChange, { keyCeiling = {} }: StoredGroup): KeyChange {
  const missing = [...counts, ...amounts, "models" as const].filter(
    (rule) => rule in rules && rules[rule] === undefined && keyCeiling[rule] !== undefined && rule !== "weight",
  );
  return { ...rules, ...Object.fromEntries(missing.map((rule) => [rule, keyCeiling[rule]])) };
}

/** The rules that a ceiling limits, all of them given: those that a key lacks are undefined. */
export const limitedRules = (rules: KeyChange): KeyChange => ({
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
  weight: undefined,
  budgetUsd: undefined,
  monthlyBudgetUsd: undefined,
  models: undefined,
  ...rules,
});

/**
 * Checks that a group and its parent have room for one more key.
 * @throws {ManageError} `above_ceiling`
 */
export function assertRoom(
  chain: readonly StoredGroup[],
  groups: readonly StoredGroup[],
  keys: readonly StoredKey[],
): void {
  for (const { id, name, maxKeys } of chain) {
    const members = new Set([id, ...groups.filter(({ parentId }) => parentId === id).map((child) => child.id)]);
    const count = keys.filter(({ groupId }) => groupId !== undefined && members.has(groupId)).length;
    if (maxKeys !== undefined && count >= maxKeys)
      throw new ManageError(
        "above_ceiling",
        `The group ${name} has ${count} keys, and max_keys is ${maxKeys}.`,
        "group_id",
      );
  }
}
