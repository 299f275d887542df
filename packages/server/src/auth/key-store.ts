/** What an operator decides about a key; undefined: no rule of its own. */
export interface KeyRules {
  readonly name: string;
  readonly expiresMs?: number | undefined;
  /** Model ids; undefined: all. */
  readonly models?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  /** Requests at the same time. */
  readonly concurrency?: number | undefined;
  /** Its share of a busy model beside a key of weight 1; undefined: 1. */
  readonly weight?: number | undefined;
  /** US dollars over the key's whole life, a decimal string. */
  readonly budgetUsd?: string | undefined;
  /** US dollars in each calendar month of UTC. */
  readonly monthlyBudgetUsd?: string | undefined;
}

/** What is to be different: a rule that is there takes the place of the old one, and undefined removes it. */
export type KeyChange = Partial<KeyRules>;

/** A key as it is stored: the hash of its secret, never the secret. */
export interface StoredKey extends KeyRules {
  /** Twelve hexadecimal digits, unique. A token begins with it, so a key is found without a search over hashes. */
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  /** The secret before the last rotation, while it works beside the new one. */
  readonly former?: { readonly hash: string; readonly untilMs: number } | undefined;
  readonly createdMs: number;
  readonly disabledMs?: number | undefined;
}

/**
 * Where API keys are kept. The store decides nothing: who may pass is judged in `find-caller.ts`.
 *
 * Every method is atomic. Once a change has resolved, every `find` and `list` that begins later sees it, in this process
 * and in every other one that shares the store: a disabled key is refused from the next request on. So a cache is only
 * allowed where it is told of changes. Times are milliseconds since 1970. A method rejects when the store cannot be
 * reached, with an error of its own kind; then nothing has changed.
 *
 * `keyStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface KeyStore {
  find(id: string): Promise<StoredKey | undefined>;
  /** All keys, the oldest first; of the same age by id. */
  list(): Promise<StoredKey[]>;
  /** Rejects when the id is taken. */
  insert(key: StoredKey): Promise<void>;
  /** Changes the rules that are named and nothing else. @returns whether there is such a key */
  update(id: string, change: KeyChange): Promise<boolean>;
  /** A key that is disabled already keeps its first time. @returns whether there is such a key */
  disable(id: string, atMs: number): Promise<boolean>;
  /** @returns whether there is such a key */
  enable(id: string): Promise<boolean>;
  /**
   * Replaces the secret of a key and nothing else; a former secret is forgotten.
   * @param formerUntilMs until then the replaced one is kept as the former secret
   * @returns whether there is such a key
   */
  replaceHash(id: string, hash: string, formerUntilMs?: number): Promise<boolean>;
  /** Removes a key and keeps its name, for what it has used. @returns whether there was such a key */
  delete(id: string, atMs: number): Promise<boolean>;
  /** The names of all keys by their ids, also of those that were deleted. */
  names(): Promise<ReadonlyMap<string, string>>;
}
