import type { components } from "@parley/contract/admin-types";

/** A right of an admin key. */
export type Scope = components["schemas"]["Scope"];

/** An admin key as it is stored: the hash of its secret, never the secret. */
export interface StoredAdminKey {
  /** Twelve hexadecimal digits, unique, and a part of the token. */
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  /** 1 to 200 characters. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The group that it is bound to: it is then the key of the group's owner. Undefined: all keys and groups. */
  readonly groupId?: string | undefined;
  readonly createdMs: number;
  readonly expiresMs?: number | undefined;
  readonly disabledMs?: number | undefined;
  /** The group whose owner has disabled it. Undefined: the operator has, or it is not disabled. */
  readonly disabledByGroupId?: string | undefined;
  /** The time of its last use. It is written at most once a minute. */
  readonly lastUsedMs?: number | undefined;
}

/**
 * Stores admin keys. Each method is atomic. Times are milliseconds since 1970. A method rejects when the store cannot be
 * reached; then nothing has changed. `adminStoresContract` in `@parley/server/testing` tests it on any implementation.
 */
export interface AdminKeyStore {
  find(id: string): Promise<StoredAdminKey | undefined>;
  /** Returns all admin keys, sorted by creation time, then by id. */
  list(): Promise<StoredAdminKey[]>;
  /** Rejects when the id exists already, or the group does not exist. */
  insert(key: StoredAdminKey): Promise<void>;
  /**
   * Disables an admin key. If it is disabled already, its first time stays.
   * @param byGroupId the group whose owner disables it; undefined: the operator does
   * @returns whether there is such a key
   */
  disable(id: string, atMs: number, byGroupId?: string): Promise<boolean>;
  /** @returns whether there is such a key */
  enable(id: string): Promise<boolean>;
  /** @returns whether there was such a key */
  delete(id: string): Promise<boolean>;
  /** Notes the time of the last use. @returns whether there is such a key */
  noteUse(id: string, atMs: number): Promise<boolean>;
}
