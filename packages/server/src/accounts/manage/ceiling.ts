import type { KeyCeiling, StoredGroup } from "../groups/group-store.ts";
import type { KeyChange, StoredKey } from "../keys/key-store.ts";
import { isOfIdentity } from "../keys/hash-key.ts";
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
/** The rules of a key that are amounts of money. */
export const amounts = ["budgetUsd", "monthlyBudgetUsd"] as const;

/** The tightest maximum of a rule, with the name of its group. */
interface Bound<T> {
  readonly max: T;
  readonly group: string;
}

/** Returns the tightest maximum of a rule in a chain of groups; undefined if none has one. */
function boundOf<Rule extends keyof KeyCeiling>(
  rule: Rule,
  chain: readonly StoredGroup[],
  isTighter: (one: NonNullable<KeyCeiling[Rule]>, other: NonNullable<KeyCeiling[Rule]>) => boolean,
): Bound<NonNullable<KeyCeiling[Rule]>> | undefined {
  let tightest: Bound<NonNullable<KeyCeiling[Rule]>> | undefined;
  for (const { name, keyCeiling } of chain) {
    const max = keyCeiling?.[rule];
    if (max !== undefined && max !== null && (!tightest || isTighter(max, tightest.max)))
      tightest = { max, group: name };
  }
  return tightest;
}

/** Returns the tightest maximum of an amount of money in a chain of groups; undefined if none has one. */
export const amountBoundOf = (
  rule: (typeof amounts)[number],
  chain: readonly StoredGroup[],
): Bound<string> | undefined => boundOf(rule, chain, (one, other) => !isAtLeastUsd(one, other));

const refuse = (rule: keyof KeyCeiling, { max, group }: Bound<unknown>): never => {
  const wire = wireNameOf[rule];
  throw new ManageError("above_ceiling", `The ceiling of the group ${group} for ${wire} is ${String(max)}.`, wire);
};

/**
 * Checks the given rules of an owner's key against the ceilings of its groups. The tightest ceiling counts for each rule. A rule
 * that is removed takes the value of the ceiling.
 * @param chain the group of the key, then that group's parent
 * @returns the rules to store
 * @throws {ManageError} `above_ceiling`
 */
export function fitAll(rules: KeyChange, chain: readonly StoredGroup[]): KeyChange {
  const fitted: Record<string, unknown> = { ...rules };
  for (const rule of counts) {
    const bound = rule in rules ? boundOf(rule, chain, (one, other) => one < other) : undefined;
    if (!bound) continue;
    // A key without a weight has the weight 1, which no ceiling is below.
    fitted[rule] = rules[rule] ?? (rule === "weight" ? 1 : bound.max);
    if ((rules[rule] ?? 0) > bound.max) refuse(rule, bound);
  }
  for (const rule of amounts) {
    const bound = rule in rules ? amountBoundOf(rule, chain) : undefined;
    if (!bound) continue;
    fitted[rule] = rules[rule] ?? bound.max;
    if (!isAtLeastUsd(bound.max, rules[rule] ?? bound.max)) refuse(rule, bound);
  }
  return { ...fitted, ...fitModels(rules, chain) };
}

/**
 * Checks the models of a key: the ceiling of each group may list the models that keys of the group may use. A key that names no
 * models gets those that are in every such list.
 */
function fitModels(rules: KeyChange, chain: readonly StoredGroup[]): KeyChange {
  if (!("models" in rules)) return {};
  let models = rules.models;
  for (const { name, keyCeiling } of chain) {
    const allowed = keyCeiling?.models;
    if (!allowed) continue;
    if (rules.models?.some((model) => !allowed.includes(model)))
      refuse("models", { max: allowed.join(", "), group: name });
    models = (models ?? allowed).filter((model) => allowed.includes(model));
  }
  return { models };
}

/** Returns the rules of a key that a ceiling limits. A rule that the key does not have is present, and undefined. */
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
 * Checks that a group and its parent have room for one more key. Callers of an identity provider take no room.
 * @param keys all keys but the one that needs the room
 * @throws {ManageError} `above_ceiling`
 */
export function assertRoom(
  chain: readonly StoredGroup[],
  groups: readonly StoredGroup[],
  keys: readonly StoredKey[],
): void {
  for (const { id, name, maxKeys } of chain) {
    const members = new Set([id, ...groups.filter(({ parentId }) => parentId === id).map((child) => child.id)]);
    const count = keys.filter((key) => members.has(key.groupId ?? "") && !isOfIdentity(key)).length;
    if (maxKeys !== undefined && count >= maxKeys)
      throw new ManageError(
        "above_ceiling",
        `The group ${name} has ${count} keys, and max_keys is ${maxKeys}.`,
        "group_id",
      );
  }
}
