import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Caller } from "./caller.ts";
import { isSameSecret, makeKey, splitToken, withSecret } from "./hash-key.ts";
import type { NewKey } from "./hash-key.ts";

/** What an operator decides about a key; undefined: no rule of its own. */
export interface KeyRules {
  readonly name: string;
  readonly expiresMs: number | undefined;
  readonly models: readonly string[] | undefined;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  readonly concurrency: number | undefined;
  readonly budgetUsd: string | undefined;
}

/** A key as it may be shown: never with its secret. */
export interface KeyListing extends KeyRules {
  readonly id: string;
  readonly createdMs: number;
  readonly disabledMs: number | undefined;
  readonly spentUsd: string;
}

interface KeyRow {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly disabled_ms: number | null;
  readonly models: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly budget_usd: string | null;
  readonly spent_usd: string | null;
}

const noHash = "0".repeat(64);

/** The keys of a data folder. Another process may change them at any time: a change is seen by the next request. */
export class KeyStore {
  readonly #database: DatabaseSync;
  readonly #dataVersion: StatementSync;
  readonly #findRow: StatementSync;
  readonly #cache = new Map<string, KeyRow | undefined>();
  #seenVersion: unknown;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#dataVersion = database.prepare("PRAGMA data_version");
    this.#findRow = database.prepare("SELECT keys.*, NULL AS spent_usd FROM keys WHERE id = ?");
  }

  /** The caller behind a token, or undefined for any reason: malformed, unknown, wrong, disabled, expired. */
  find(token: string, nowMs: number): Caller | undefined {
    const parts = splitToken(token);
    const row = parts && this.#read(parts.id);
    // An unknown id costs as much time as a wrong secret.
    const isRight = isSameSecret(parts?.secret ?? "", row?.hash ?? noHash);
    if (!row || !isRight || row.disabled_ms !== null || (row.expires_ms ?? Number.POSITIVE_INFINITY) <= nowMs)
      return undefined;
    return toCaller(row);
  }

  #read(id: string): KeyRow | undefined {
    // Moves when another connection has written; our own changes go through forget().
    const version = this.#dataVersion.get()?.["data_version"];
    if (version !== this.#seenVersion || this.#cache.size > 10_000) this.#cache.clear();
    this.#seenVersion = version;
    if (!this.#cache.has(id)) this.#cache.set(id, this.#findRow.get(id) as KeyRow | undefined); // the columns of the table
    return this.#cache.get(id);
  }

  create(rules: KeyRules, nowMs: number): NewKey {
    const key = makeKey();
    this.#database
      .prepare(
        `INSERT INTO keys (id, hash, name, created_ms, expires_ms, models, requests_per_minute, tokens_per_minute, concurrency, budget_usd)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        key.id,
        key.hash,
        rules.name,
        nowMs,
        rules.expiresMs ?? null,
        rules.models ? JSON.stringify(rules.models) : null,
        rules.requestsPerMinute ?? null,
        rules.tokensPerMinute ?? null,
        rules.concurrency ?? null,
        rules.budgetUsd ?? null,
      );
    this.#cache.clear();
    return key;
  }

  list(): KeyListing[] {
    const rows = this.#database
      .prepare(
        "SELECT keys.*, spending.cost_usd AS spent_usd FROM keys LEFT JOIN spending ON key_id = id ORDER BY created_ms, id",
      )
      .all();
    return (rows as unknown as KeyRow[]).map(toListing); // the columns of the tables
  }

  /** False when there is no such key. A disabled key stays disabled since the first time. */
  disable(id: string, nowMs: number): boolean {
    const { changes } = this.#database
      .prepare("UPDATE keys SET disabled_ms = coalesce(disabled_ms, ?) WHERE id = ?")
      .run(nowMs, id);
    this.#cache.clear();
    return changes > 0;
  }

  /** Another secret under the same rules; the old one stops working. Undefined when there is no such key. */
  rotate(id: string): NewKey | undefined {
    const key = withSecret(id);
    const { changes } = this.#database.prepare("UPDATE keys SET hash = ? WHERE id = ?").run(key.hash, id);
    this.#cache.clear();
    return changes > 0 ? key : undefined;
  }

  isEmpty(): boolean {
    return this.#database.prepare("SELECT 1 FROM keys LIMIT 1").get() === undefined;
  }
}

function toCaller(row: KeyRow): Caller {
  return {
    keyId: row.id,
    models: row.models === null ? undefined : new Set(JSON.parse(row.models) as string[]), // written by create()
    requestsPerMinute: row.requests_per_minute ?? undefined,
    tokensPerMinute: row.tokens_per_minute ?? undefined,
    concurrency: row.concurrency ?? undefined,
    budgetUsd: row.budget_usd ?? undefined,
  };
}

function toListing(row: KeyRow): KeyListing {
  const { keyId: _id, models, ...rules } = toCaller(row);
  return {
    ...rules,
    id: row.id,
    name: row.name,
    createdMs: row.created_ms,
    expiresMs: row.expires_ms ?? undefined,
    disabledMs: row.disabled_ms ?? undefined,
    models: models && [...models],
    spentUsd: row.spent_usd ?? "0",
  };
}
