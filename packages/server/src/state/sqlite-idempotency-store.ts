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
import { blocking, inTransaction, whenUnlocked } from "./transaction.ts";

/** The number of answers of an API key, and their bytes as they are stored. */
interface Kept {
  readonly answers: number;
  readonly bytes: number;
}

/** Idempotency keys in SQLite. A data folder has one server at a time, which frees the claims of the last one when it starts. */
export class SqliteIdempotencyStore implements IdempotencyStore {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #claim: StatementSync;
  readonly #keep: StatementSync;
  readonly #trim: StatementSync;
  readonly #count: StatementSync;
  /** At least the answers that each API key has, so they are not counted for each new one. */
  readonly #kept = new Map<string, Kept>();
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
      `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM (
         SELECT rowid, row_number() OVER newest AS place, sum(length(body)) OVER newest AS bytes
         FROM idempotency WHERE key_id = ? AND body IS NOT NULL
         WINDOW newest AS (ORDER BY created_ms DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
       ) WHERE place > ? OR bytes > ?)`,
    );
    this.#count = database.prepare(
      `SELECT count(*) AS answers, coalesce(sum(length(body)), 0) AS bytes
       FROM idempotency WHERE key_id = ? AND body IS NOT NULL`,
    );
    this.#release = database.prepare(
      "DELETE FROM idempotency WHERE key_id = ? AND idempotency_key = ? AND request_id = ? AND body IS NULL",
    );
    this.#prune = database.prepare("DELETE FROM idempotency WHERE expires_ms < ? AND body IS NOT NULL");
  }

  async claim(claim: IdempotencyClaim): Promise<ClaimOutcome> {
    const { keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs } = claim;
    return this.#change(() => {
      const row = this.#find.get(keyId, idempotencyKey, nowMs) as IdempotencyRow | undefined; // the columns of the table
      if (row) return toOutcome(row, bodyHash);
      this.#claim.run(keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs);
      return { kind: "claimed" };
    });
  }

  async keep(claim: OwnClaim, answer: StoredAnswer, bounds: KeptBounds): Promise<void> {
    const { keyId, idempotencyKey, requestId } = claim;
    const { isStream, ignored, body } = answer;
    const kept = await this.#change(() => {
      const values = [Number(isStream), ignored ?? null, body, bounds.expiresMs];
      this.#keep.run(...values, keyId, idempotencyKey, requestId);
      return this.#fit(keyId, body.byteLength, bounds);
    });
    this.#kept.set(keyId, kept);
  }

  /** Removes the oldest answers of an API key that has too many, and a few more, because the search for them takes long. */
  #fit(keyId: string, newBytes: number, { maxAnswers, maxBytes }: KeptBounds): Kept {
    const fits = ({ answers, bytes }: Kept): boolean => answers <= maxAnswers && bytes <= maxBytes;
    const known = this.#kept.get(keyId);
    const most = known && { answers: known.answers + 1, bytes: known.bytes + newBytes };
    if (most && fits(most)) return most;
    const counted = this.#countOf(keyId);
    if (fits(counted)) return counted;
    const lower = (maximum: number): number => maximum - Math.floor(maximum / 16);
    this.#trim.run(keyId, lower(maxAnswers), lower(maxBytes));
    return this.#countOf(keyId);
  }

  #countOf(keyId: string): Kept {
    const row = this.#count.get(keyId);
    return { answers: Number(row?.["answers"]), bytes: Number(row?.["bytes"]) };
  }

  async release({ keyId, idempotencyKey, requestId }: OwnClaim): Promise<void> {
    await this.#change(() => this.#release.run(keyId, idempotencyKey, requestId));
  }

  async prune(expiredBeforeMs: number): Promise<number> {
    return Number((await this.#change(() => this.#prune.run(expiredBeforeMs))).changes);
  }

  /** Frees the claims that a dead server has left. Must be called before the first claim of a server. */
  freeClaims(): void {
    blocking(this.#database, () => this.#database.exec("DELETE FROM idempotency WHERE body IS NULL"));
  }

  #change<T>(change: () => T): Promise<T> {
    return whenUnlocked(this.#database, () => inTransaction(this.#database, change));
  }
}
