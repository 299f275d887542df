import type { components } from "@parley/contract/admin-types";
import type { StoredAdminKey } from "../admin-keys/admin-key-store.ts";
import type { GroupChange, KeyCeiling, StoredGroup } from "../groups/group-store.ts";
import type { KeyChange, KeyRules, StoredKey } from "../keys/key-store.ts";
import { raiseAt } from "../money/budget-raise.ts";
import type { BudgetRaise } from "../money/budget-raise.ts";
import { addUsd, isAtLeastUsd } from "../money/price.ts";
import { ManageError } from "./manage-error.ts";

/** Converts between the stores and the bodies of the admin API, which the commands also print with `--json`. */

type Schemas = components["schemas"];

export const isoTime = (ms: number): string => new Date(ms).toISOString();
export const orNull = <T, U>(value: T | undefined, to: (value: T) => U): U | null =>
  value === undefined ? null : to(value);
const timeOrNull = (ms: number | undefined): string | null => orNull(ms, isoTime);

interface Lifetime {
  readonly disabledMs?: number | undefined;
  readonly expiresMs?: number | undefined;
}

function stateOf({ disabledMs, expiresMs }: Lifetime, nowMs: number): "active" | "disabled" | "expired" {
  if (disabledMs !== undefined) return "disabled";
  return expiresMs !== undefined && expiresMs <= nowMs ? "expired" : "active";
}

/** US dollars that a key has spent, ever and this month; undefined: nothing. */
export type Spent = readonly [ever: string | undefined, thisMonth: string | undefined];

export const toKey = (
  key: StoredKey,
  [spentUsd = "0", spentThisMonthUsd = "0"]: Spent,
  groups: ReadonlyMap<string, string>,
  nowMs: number,
): Schemas["Key"] => ({
  id: key.id,
  name: key.name,
  state: stateOf(key, nowMs),
  created: isoTime(key.createdMs),
  expires: timeOrNull(key.expiresMs),
  disabled: timeOrNull(key.disabledMs),
  former_secret_until: key.former && key.former.untilMs > nowMs ? isoTime(key.former.untilMs) : null,
  group: orNull(key.groupId, (id) => groups.get(id) ?? id),
  group_id: key.groupId ?? null,
  models: orNull(key.models, (models) => [...models]),
  requests_per_minute: key.requestsPerMinute ?? null,
  tokens_per_minute: key.tokensPerMinute ?? null,
  concurrency: key.concurrency ?? null,
  weight: key.weight ?? 1,
  budget_usd: key.budgetUsd ?? null,
  spent_usd: spentUsd,
  monthly_budget_usd: key.monthlyBudgetUsd ?? null,
  spent_this_month_usd: spentThisMonthUsd,
  budget_raise: orNull(raiseAt(key.budgetRaise, nowMs), toRaise),
});

const toRaise = ({ usd, untilMs }: BudgetRaise): Schemas["BudgetRaise"] => ({ usd, until: isoTime(untilMs) });

/** Facts about a group besides its rules. */
export interface GroupFacts {
  /** US dollars in the running period, or ever. */
  readonly spentUsd: string;
  /** The start of the next period. */
  readonly toMs: number;
  /** The number of its own keys. */
  readonly keys: number;
  /** The name of its parent. */
  readonly parent: string | null;
}

export const toGroup = (group: StoredGroup, facts: GroupFacts, nowMs: number): Schemas["Group"] => ({
  id: group.id,
  name: group.name,
  state: group.disabledMs === undefined ? "active" : "disabled",
  created: isoTime(group.createdMs),
  disabled: timeOrNull(group.disabledMs),
  parent: facts.parent,
  parent_id: group.parentId ?? null,
  budget_usd: group.budgetUsd ?? null,
  budget_raise: orNull(raiseAt(group.budgetRaise, nowMs), toRaise),
  period: group.period ?? null,
  time_zone: group.timeZone ?? null,
  spent_usd: facts.spentUsd,
  resets_at: group.period === undefined ? null : isoTime(facts.toMs),
  keys: facts.keys,
  max_keys: group.maxKeys ?? null,
  key_ceiling: orNull(group.keyCeiling, toCeiling),
});

const toCeiling = (ceiling: KeyCeiling): Exclude<Schemas["KeyCeiling"], null> => ({
  models: orNull(ceiling.models, (models) => [...models]),
  requests_per_minute: ceiling.requestsPerMinute ?? null,
  tokens_per_minute: ceiling.tokensPerMinute ?? null,
  concurrency: ceiling.concurrency ?? null,
  weight: ceiling.weight ?? null,
  budget_usd: ceiling.budgetUsd ?? null,
  monthly_budget_usd: ceiling.monthlyBudgetUsd ?? null,
});

export const toAdminKey = (key: StoredAdminKey, nowMs: number): Schemas["AdminKey"] => ({
  id: key.id,
  name: key.name,
  state: stateOf(key, nowMs),
  scopes: [...key.scopes],
  group_id: key.groupId ?? null,
  created: isoTime(key.createdMs),
  expires: timeOrNull(key.expiresMs),
  disabled: timeOrNull(key.disabledMs),
  last_used: timeOrNull(key.lastUsedMs),
});

/** Parses a date with or without a time. @returns milliseconds since 1970, or NaN, also for a day such as February 30 */
export function parseTime(text: string): number {
  const day = text.slice(0, 10);
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // Date.parse takes February 30 for March 2.
  return Number.isNaN(midnightMs) || !isoTime(midnightMs).startsWith(day) ? NaN : Date.parse(text);
}

/** Returns the time that a text names. @throws {ManageError} `invalid_value` */
export function toMs(text: string, param: string): number {
  const ms = parseTime(text);
  if (!Number.isNaN(ms)) return ms;
  throw new ManageError("invalid_value", `${param} must be a time such as 2027-01-31T00:00:00Z.`, param);
}

export const timeOf = (text: string | undefined, param: string): number | undefined =>
  text === undefined ? undefined : toMs(text, param);

/** @throws {ManageError} `invalid_value` for a time that is not in the future */
export function toFutureMs(text: string, nowMs: number, param = "expires"): number {
  const ms = toMs(text, param);
  if (ms > nowMs) return ms;
  throw new ManageError("invalid_value", `${param} must be in the future.`, param);
}

/** @throws {ManageError} `invalid_value` for an amount of 0, or an end that is not in the future */
function toStoredRaise({ usd, until }: NonNullable<Schemas["NewBudgetRaise"]>, nowMs: number): BudgetRaise {
  if (isAtLeastUsd("0", usd))
    throw new ManageError("invalid_value", "budget_raise.usd must be more than 0.", "budget_raise.usd");
  return { usd: addUsd(usd), untilMs: toFutureMs(until, nowMs, "budget_raise.until") };
}

/** Returns the id of a model by any of its names. @throws {ManageError} `invalid_value` for a model that is not served */
export type ResolveModel = (name: string) => string;

/**
 * Returns the members that are present, under other names and without null, which removes a rule. Amounts become the same
 * text in every store.
 */
function renamed(body: object, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  const stored = (wire: string, value: unknown): unknown =>
    wire.endsWith("_usd") && typeof value === "string" ? addUsd(value) : (value ?? undefined);
  return Object.fromEntries(given.map(([wire, value]) => [names[wire] ?? wire, stored(wire, value)]));
}

const limitNames = {
  models: "models",
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  concurrency: "concurrency",
  weight: "weight",
  budget_usd: "budgetUsd",
  monthly_budget_usd: "monthlyBudgetUsd",
} as const satisfies Readonly<Record<string, keyof KeyRules>>;
const keyNames = { ...limitNames, budget_raise: "budgetRaise", group_id: "groupId", expires: "expiresMs" };
const groupNames = {
  parent_id: "parentId",
  budget_usd: "budgetUsd",
  budget_raise: "budgetRaise",
  time_zone: "timeZone",
  max_keys: "maxKeys",
  key_ceiling: "keyCeiling",
};

/** Returns the given rules of a key. @throws {ManageError} */
export function toKeyChange(body: Schemas["KeyUpdate"], resolve: ResolveModel, nowMs: number): KeyChange {
  assertName(body.name);
  const models = body.models?.map(resolve);
  const expires = typeof body.expires === "string" ? toFutureMs(body.expires, nowMs) : body.expires;
  const raise = body.budget_raise && { budget_raise: toStoredRaise(body.budget_raise, nowMs) };
  return renamed({ ...body, ...(models && { models }), ...raise, expires }, keyNames);
}

/** Returns the given rules of a group. @throws {ManageError} */
export function toGroupChange(body: Schemas["GroupUpdate"], resolve: ResolveModel, nowMs: number): GroupChange {
  assertName(body.name);
  const { key_ceiling: ceiling } = body;
  const models = ceiling?.models?.map(resolve);
  const stored = ceiling && definedOnly(renamed({ ...ceiling, ...(models && { models }) }, limitNames));
  const raise = body.budget_raise && { budget_raise: toStoredRaise(body.budget_raise, nowMs) };
  return renamed({ ...body, ...(stored && { key_ceiling: stored }), ...raise }, groupNames);
}

const definedOnly = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));

function assertName(name: string | null | undefined): void {
  if (name === null) throw new ManageError("invalid_value", "name cannot be removed.", "name");
  if (name !== undefined && name.trim() === "")
    throw new ManageError("invalid_value", "name must have a character that is not a blank.", "name");
  if (name !== undefined && /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u.test(name)) {
    const message = "name must not have control characters or halves of surrogate pairs.";
    throw new ManageError("invalid_value", message, "name");
  }
}

/** The wire name of each rule that a ceiling limits. */
export const wireNameOf = Object.fromEntries(
  Object.entries(limitNames).map(([wire, rule]) => [rule, wire]),
) as Readonly<Record<keyof KeyCeiling, string>>; // the names are unique
