import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  ClaimOutcome,
  IdempotencyClaim,
  IdempotencyStore,
  KeptBounds,
  OwnClaim,
  StoredAnswer,
} from "../accounts/idempotency/idempotency-store.ts";
import { toOutcome } from "./idempotency-row.ts";
import type { IdempotencyRow } from "./idempotency-row.ts";
import { inTransaction } from "./transaction.ts";

/** Idempotency keys in SQLite. A data folder has one server at a time, which frees the claims of the last one when it starts. */
export class SqliteIdempotencyStore implements IdempotencyStore {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #claim: StatementSync;
  readonly #keep: StatementSync;
  readonly #trim: StatementSync;
  readonly #release: StatementSync;
  readonly #prune: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#find = database.prepare(
      "SELECT * FROM idempotency WHERE key_id = ? AND idempotency_key = ? AND (expires_ms > ? OR body IS NULL)",
    );
    this.#claim = database.prepare(
      `INSERT OR REPLACE INTO idempotency (key_id, idempotency_key, body_hash, request_id, created_ms, expires_ms)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#keep = database.prepare(
      `UPDATE idempotency SET is_stream = ?, ignored = ?, body = ?, expires_ms = ?
       WHERE key_id = ? AND idempotency_key = ? AND request_id = ? AND body IS NULL`,
    );
    this.#trim = database.prepare(
      `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency
       WHERE key_id = ? AND body IS NOT NULL ORDER BY created_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`,
    );
    this.#release = database.prepare(
      "DELETE FROM idempotency WHERE key_id = ? AND idempotency_key = ? AND request_id = ? AND body IS NULL",
    );
    this.#prune = database.prepare("DELETE FROM idempotency WHERE expires_ms < ? AND body IS NOT NULL");
  }

  async claim(claim: IdempotencyClaim): Promise<ClaimOutcome> {
    const { keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs } = claim;
    return inTransaction(this.#database, () => {
      const row = this.#find.get(keyId, idempotencyKey, nowMs) as IdempotencyRow | undefined; // the columns of the table
      if (row) return toOutcome(row, bodyHash);
      this.#claim.run(keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs);
      return { kind: "claimed" };
    });
  }

  async keep(claim: OwnClaim, answer: StoredAnswer, { expiresMs, maxAnswers }: KeptBounds): Promise<void> {
    const { keyId, idempotencyKey, requestId } = claim;
    const { isStream, ignored, body } = answer;
    inTransaction(this.#database, () => {
      this.#keep.run(Number(isStream), ignored ?? null, body, expiresMs, keyId, idempotencyKey, requestId);
      this.#trim.run(keyId, maxAnswers);
    });
  }

  async release({ keyId, idempotencyKey, requestId }: OwnClaim): Promise<void> {
    this.#release.run(keyId, idempotencyKey, requestId);
  }

  async prune(expiredBeforeMs: number): Promise<number> {
    return Number(this.#prune.run(expiredBeforeMs).changes);
  }

  /** Frees the claims that a dead server has left. Must be called before the first claim of a server. */
  freeClaims(): void {
    this.#database.exec("DELETE FROM idempotency WHERE body IS NULL");
  }
}
