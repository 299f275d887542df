import { createHash, timingSafeEqual } from "node:crypto";
import { storeAway } from "../../errors/api-error.ts";
import type { AuditRecord } from "../audit/audit-log.ts";
import { raiseAt, raisedUsd } from "../money/budget-raise.ts";
import type { Caller, CallerGroup } from "./caller.ts";
import { hashSecret, isSameHash, splitToken } from "./hash-key.ts";
import type { FoundKey, KeyRules, KeyStore } from "./key-store.ts";

/**
 * Finds the caller that a token identifies.
 * @param from returns the source of the request, for the audit log
 * @returns undefined if the token is not accepted, for any reason
 */
export type FindCaller = (token: string, from: () => AuditRecord["from"]) => Promise<Caller | undefined>;

/** Admits stored keys. A token is refused when it is malformed, unknown, wrong, disabled or expired, or its group is disabled. */
export function withStoredKeys(store: Pick<KeyStore, "find">, nowMs: () => number): FindCaller {
  return async (token) => {
    const parts = splitToken(token);
    const key = parts && (await store.find(parts.id));
    // Both hashes are always compared, so the time does not reveal whether the id exists or has a former secret.
    const given = hashSecret(parts?.secret ?? "");
    const isCurrent = isSameHash(given, key?.hash ?? noHash);
    const isFormer = isSameHash(given, key?.former?.hash ?? noHash);
    const isRight = isCurrent || (isFormer && (key?.former?.untilMs ?? 0) > nowMs());
    if (!key || !isRight || isDisabled(key)) return undefined;
    if (key.expiresMs !== undefined && key.expiresMs <= nowMs()) return undefined;
    return toCaller(key.id, key, key.groups, nowMs());
  };
}

/** Returns true for a key that is disabled, or whose group or that group's parent is. */
export const isDisabled = ({ disabledMs, groups = [] }: FoundKey): boolean =>
  disabledMs !== undefined || groups.some((group) => group.disabledMs !== undefined);

const noHash = "0".repeat(64);

/** Answers 503 while the keys cannot be looked up: a valid key must never be refused as a wrong one (OPS-18). */
export const unlessAway =
  (find: FindCaller): FindCaller =>
  (token, from) =>
    find(token, from).catch(storeAway);

/** The id of the key in PARLEY_API_KEY. */
export const environmentKey = "environment";

/**
 * Admits the operator's key from the environment besides the stored keys. It has the default limits, and is never stored.
 */
export function withEnvironmentKey(key: string | undefined, findStored: FindCaller): FindCaller {
  if (key === undefined) return findStored;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(key);
  const caller = toCaller(environmentKey, { name: environmentKey }, [], 0);
  return async (token, from) => (timingSafeEqual(digest(token), expected) ? caller : findStored(token, from));
}

/**
 * Returns the caller of a key with these rules.
 * @param groups its group, then that group's parent
 * @param nowMs decides which raises of budgets count for the request
 */
export function toCaller(
  keyId: string,
  rules: KeyRules,
  groups: readonly CallerGroup[] | undefined,
  nowMs: number,
): Caller {
  const budgetRaise = raiseAt(rules.budgetRaise, nowMs);
  return {
    keyId,
    models: rules.models && new Set(rules.models),
    requestsPerMinute: rules.requestsPerMinute,
    tokensPerMinute: rules.tokensPerMinute,
    concurrency: rules.concurrency,
    weight: rules.weight ?? 1,
    budgetUsd: raisedUsd(rules.budgetUsd, budgetRaise),
    monthlyBudgetUsd: raisedUsd(rules.monthlyBudgetUsd, budgetRaise),
    budgetRaise,
    groups: (groups ?? []).map((group) => toCallerGroup(group, nowMs)),
  };
}

function toCallerGroup(
  { id, name, budgetUsd, budgetRaise, period, timeZone }: CallerGroup,
  nowMs: number,
): CallerGroup {
  const raise = raiseAt(budgetRaise, nowMs);
  return { id, name, budgetUsd: raisedUsd(budgetUsd, raise), budgetRaise: raise, period, timeZone };
}
