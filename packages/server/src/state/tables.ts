import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { addUsd } from "../accounts/money/price.ts";
import { StateError } from "./state-error.ts";
import { monthOf, startOfMonth } from "../accounts/money/month.ts";

/**
 * The migrations. Each step changes the tables from one version to the next, starting with an empty file. A released step
 * is never changed; changes are new steps.
 */
export const steps: readonly ((database: DatabaseSync, nowMs: number) => void)[] = [
  makeTables,
  addMonthsAndOverlap,
  addWeights,
  addSecrets,
  addHolds,
  addGroups,
  addAdmin,
  addIdempotency,
  addDisablers,
  addRaises,
];

/** The current version of the tables. A file with a higher version was written by a newer Parley. */
export const schemaVersion = steps.length;

function makeTables(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL,
      name TEXT NOT NULL,
      created_ms INTEGER NOT NULL,
      expires_ms INTEGER,
      disabled_ms INTEGER,
      models TEXT,
      requests_per_minute INTEGER,
      tokens_per_minute INTEGER,
      concurrency INTEGER,
      budget_usd TEXT
    ) STRICT;
    CREATE TABLE spending (
      key_id TEXT PRIMARY KEY,
      cost_usd TEXT NOT NULL
    ) STRICT;
    CREATE TABLE requests (
      id TEXT PRIMARY KEY,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      is_stream INTEGER NOT NULL,
      started_ms INTEGER NOT NULL,
      ended_ms INTEGER,
      outcome TEXT NOT NULL,
      error_code TEXT,
      prompt_tokens INTEGER NOT NULL,
      cached_tokens INTEGER NOT NULL,
      completion_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      cost_usd TEXT NOT NULL,
      prices TEXT NOT NULL
    ) STRICT;
    CREATE INDEX requests_open ON requests (ended_ms) WHERE ended_ms IS NULL;
    CREATE INDEX requests_started ON requests (started_ms);
  `);
}

/** Adds monthly budgets, former secrets that stay valid after a rotation, and the names of deleted keys. */
function addMonthsAndOverlap(database: DatabaseSync, nowMs: number): void {
  database.exec(`
    ALTER TABLE keys ADD COLUMN monthly_budget_usd TEXT;
    ALTER TABLE keys ADD COLUMN former_hash TEXT;
    ALTER TABLE keys ADD COLUMN former_until_ms INTEGER;
    CREATE TABLE deleted_keys (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      deleted_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE monthly_spending (
      key_id TEXT NOT NULL,
      month TEXT NOT NULL,
      cost_usd TEXT NOT NULL,
      PRIMARY KEY (key_id, month)
    ) STRICT;
  `);
  addUpThisMonth(database, nowMs);
}

/**
 * Sums the spending of the current month. Earlier months no longer limit anyone. No request takes longer than a day, so the
 * index on `started_ms` can be used.
 */
function addUpThisMonth(database: DatabaseSync, nowMs: number): void {
  const fromMs = startOfMonth(nowMs);
  const rows = database
    .prepare("SELECT key_id, cost_usd FROM requests WHERE started_ms >= ? AND ended_ms >= ?")
    .iterate(fromMs - dayMs, fromMs);
  const spent = new Map<string, string>();
  for (const row of rows) {
    const keyId = String(row["key_id"]);
    spent.set(keyId, addUsd(spent.get(keyId) ?? "0", String(row["cost_usd"])));
  }
  const insert = database.prepare("INSERT INTO monthly_spending (key_id, month, cost_usd) VALUES (?, ?, ?)");
  for (const [keyId, costUsd] of spent) insert.run(keyId, monthOf(nowMs), costUsd);
}

const dayMs = 86_400_000;

/** Adds the secrets of this installation. They are generated here, so each exists once and is part of every backup. */
function addSecrets(database: DatabaseSync): void {
  database.exec("CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT");
  database.prepare("INSERT INTO secrets (name, value) VALUES ('prompt-cache', ?)").run(randomBytes(32));
}

/** @throws {StateError} if the table lacks it, which happens only if someone has edited the file */
export function readSecret(database: DatabaseSync, name: "prompt-cache"): Uint8Array {
  const value = database.prepare("SELECT value FROM secrets WHERE name = ?").get(name)?.["value"];
  if (value instanceof Uint8Array) return value;
  throw new StateError(`The database lacks the secret ${name}. Restore a backup.`);
}

/** Adds the weight of a key: its share of a busy model. */
function addWeights(database: DatabaseSync): void {
  database.exec("ALTER TABLE keys ADD COLUMN weight INTEGER");
}

/** Adds the money that open entries hold: of each entry, and of each key. The open entries of this moment are abandoned. */
function addHolds(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE requests ADD COLUMN held_usd TEXT NOT NULL DEFAULT '0';
    ALTER TABLE spending ADD COLUMN held_usd TEXT NOT NULL DEFAULT '0';
  `);
}

/**
 * Adds groups of keys. `group_spending` has the cost and the holds of the requests that started in each quarter of an hour
 * (`slot` is the start of the request in Unix milliseconds, divided by 900,000). `group_periods` has the same for the period
 * that the last request of a group started in, and is computed again when the period is another one.
 */
function addGroups(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE groups (
      id TEXT PRIMARY KEY,
      created_ms INTEGER NOT NULL,
      disabled_ms INTEGER,
      name TEXT NOT NULL UNIQUE,
      parent_id TEXT,
      budget_usd TEXT,
      period TEXT,
      time_zone TEXT,
      max_keys INTEGER,
      key_ceiling TEXT
    ) STRICT;
    CREATE TABLE deleted_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, deleted_ms INTEGER NOT NULL) STRICT;
    ALTER TABLE keys ADD COLUMN group_id TEXT REFERENCES groups (id);
    CREATE INDEX keys_group ON keys (group_id) WHERE group_id IS NOT NULL;
    CREATE TABLE group_spending (
      group_id TEXT NOT NULL,
      slot INTEGER NOT NULL,
      cost_usd TEXT NOT NULL,
      held_usd TEXT NOT NULL,
      PRIMARY KEY (group_id, slot)
    ) STRICT;
    CREATE TABLE group_periods (
      group_id TEXT PRIMARY KEY,
      from_ms INTEGER NOT NULL,
      to_ms INTEGER NOT NULL,
      cost_usd TEXT NOT NULL,
      held_usd TEXT NOT NULL
    ) STRICT;
    ALTER TABLE requests ADD COLUMN group_id TEXT;
    ALTER TABLE requests ADD COLUMN parent_group_id TEXT;
  `);
}

/**
 * Adds admin keys and the audit log. Triggers refuse to change an entry of the log, and to delete one unless a later entry
 * records a pruning that covers it.
 */
function addAdmin(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE admin_keys (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL,
      name TEXT NOT NULL,
      scopes TEXT NOT NULL,
      group_id TEXT REFERENCES groups (id),
      created_ms INTEGER NOT NULL,
      expires_ms INTEGER,
      disabled_ms INTEGER,
      last_used_ms INTEGER
    ) STRICT;
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY,
      at_ms INTEGER NOT NULL,
      actor_kind TEXT NOT NULL,
      actor_id TEXT,
      actor_name TEXT NOT NULL,
      address TEXT NOT NULL,
      agent TEXT NOT NULL,
      action TEXT NOT NULL,
      target_id TEXT,
      target_name TEXT,
      group_id TEXT,
      outcome TEXT NOT NULL,
      reason TEXT,
      attempts INTEGER NOT NULL,
      before_json TEXT,
      after_json TEXT,
      prunes_before_ms INTEGER
    ) STRICT;
    CREATE INDEX audit_prunes ON audit (prunes_before_ms) WHERE prunes_before_ms IS NOT NULL;
    CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN
      SELECT RAISE(ABORT, 'entries of the audit log are never changed');
    END;
    CREATE TRIGGER audit_keeps_entries BEFORE DELETE ON audit
    WHEN NOT EXISTS (SELECT 1 FROM audit WHERE prunes_before_ms > OLD.at_ms) BEGIN
      SELECT RAISE(ABORT, 'entries of the audit log are deleted by a recorded pruning only');
    END;
  `);
}

/** Adds the idempotency keys of running requests, and the answers that are kept for them. */
function addIdempotency(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE idempotency (
      key_id TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      request_id TEXT NOT NULL,
      created_ms INTEGER NOT NULL,
      expires_ms INTEGER NOT NULL,
      is_stream INTEGER,
      ignored TEXT,
      body BLOB,
      PRIMARY KEY (key_id, idempotency_key)
    ) STRICT;
    CREATE INDEX idempotency_expiry ON idempotency (expires_ms);
    CREATE INDEX idempotency_age ON idempotency (key_id, created_ms);
  `);
}

/** Adds the group whose owner has disabled a key or an admin key. Without one, it was the operator. */
function addDisablers(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE keys ADD COLUMN disabled_by_group TEXT;
    ALTER TABLE admin_keys ADD COLUMN disabled_by_group TEXT;
  `);
}

/** Adds the raises of budgets for a limited time, each as JSON. */
function addRaises(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE keys ADD COLUMN budget_raise TEXT;
    ALTER TABLE groups ADD COLUMN budget_raise TEXT;
  `);
}
