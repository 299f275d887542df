import type { StoredGroup } from "../groups/group-store.ts";
import type { BudgetRaise } from "../money/budget-raise.ts";

/** The operator's settings of a key. An undefined limit means the server's default. */
export interface KeyRules {
  readonly name: string;
  readonly expiresMs?: number | undefined;
  /** Model ids; undefined: all. */
  readonly models?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  /** Concurrent requests. */
  readonly concurrency?: number | undefined;
  /** Its share of a busy model, relative to a key of weight 1; undefined: 1. */
  readonly weight?: number | undefined;
  /** Total budget of the key in US dollars, a decimal string. */
  readonly budgetUsd?: string | undefined;
  /** US dollars in each calendar month of UTC. */
  readonly monthlyBudgetUsd?: string | undefined;
  /** Raises both budgets. */
  readonly budgetRaise?: BudgetRaise | undefined;
  /** The group that the key belongs to. */
  readonly groupId?: string | undefined;
}

/** A change of rules. A rule that is present replaces the old one, undefined removes it, and absent rules stay. */
export type KeyChange = Partial<KeyRules>;

/** A key as it is stored: the hash of its secret, never the secret. */
export interface StoredKey extends KeyRules {
  /** Twelve hexadecimal digits, unique. It is a part of the token, so a key can be found by its id. */
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  /** The secret before the last rotation. It works until `untilMs`. */
  readonly former?: { readonly hash: string; readonly untilMs: number } | undefined;
  readonly createdMs: number;
  readonly disabledMs?: number | undefined;
  /** The group whose owner has disabled the key. Undefined: the operator has, or the key is not disabled. */
  readonly disabledByGroupId?: string | undefined;
}

/** A key with its group and that group's parent, as far as it has them. */
export interface FoundKey extends StoredKey {
  readonly groups?: readonly StoredGroup[] | undefined;
}

/**
 * Stores API keys. It does not decide which keys are accepted: `find-caller.ts` does.
 *
 * Every method is atomic. Once a change has resolved, every `find` and `list` of this process that begins later sees it. The
 * `find` of another process that shares the store sees it within a second, also when a connection is lost without a sign: a
 * disabled key is refused there within a second. A new key is found by every process at once. Times are milliseconds since 1970. A method rejects when the store cannot be reached, with an error that
 * depends on the store. Then nothing has changed.
 *
 * `keyStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface KeyStore {
  find(id: string): Promise<FoundKey | undefined>;
  /** Returns all keys, sorted by creation time, then by id. */
  list(): Promise<StoredKey[]>;
  /** Rejects when the id exists already, and with a `GroupError` when the group does not exist. */
  insert(key: StoredKey): Promise<void>;
  /** Changes the given rules. Rejects with a `GroupError` when the group does not exist. @returns whether there is such a key */
  update(id: string, change: KeyChange): Promise<boolean>;
  /**
   * Disables a key. If it is disabled already, its first time stays.
   * @param byGroupId the group whose owner disables it; undefined: the operator does
   * @returns whether there is such a key
   */
  disable(id: string, atMs: number, byGroupId?: string): Promise<boolean>;
  /** @returns whether there is such a key */
  enable(id: string): Promise<boolean>;
  /**
   * Replaces the secret of a key. An earlier former secret is deleted.
   * @param formerUntilMs the time until which the replaced secret stays valid, as the former secret
   * @returns whether there is such a key
   */
  replaceHash(id: string, hash: string, formerUntilMs?: number): Promise<boolean>;
  /** Removes a key. Its name stays, so its usage can still be shown. @returns whether there was such a key */
  delete(id: string, atMs: number): Promise<boolean>;
  /** Returns the names of all keys by id, including deleted keys. */
  names(): Promise<ReadonlyMap<string, string>>;
}
