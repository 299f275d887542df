import type { Pool } from "pg";
import type {
  ClaimOutcome,
  IdempotencyClaim,
  IdempotencyStore,
  KeptBounds,
  OwnClaim,
  StoredAnswer,
} from "../../accounts/idempotency/idempotency-store.ts";
import { toOutcome } from "../idempotency-row.ts";
import type { IdempotencyRow } from "../idempotency-row.ts";

/**
 * The table of idempotency keys, and the function that claims one: one round trip and one transaction. It renews the lease of
 * the replica if that is older than `max_age`, so no claim is made under an expired one. It takes over the claim of a dead
 * replica, by the same rule as `PostgresUsageLedger.abandoned`.
 */
export const idempotencyTables = `
  CREATE TABLE parley.idempotency (
    key_id text NOT NULL,
    idempotency_key text NOT NULL,
    body_hash text NOT NULL,
    request_id text NOT NULL,
    replica_id uuid NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    is_stream boolean,
    ignored text,
    body bytea,
    PRIMARY KEY (key_id, idempotency_key)
  );
  CREATE INDEX idempotency_expiry ON parley.idempotency (expires_ms);
  CREATE INDEX idempotency_age ON parley.idempotency (key_id, created_ms);
  CREATE FUNCTION parley.claim_idempotency(
    claim_key text, claim_name text, claim_hash text, claim_request text, claim_ms bigint, end_ms bigint,
    replica uuid, max_age interval
  ) RETURNS SETOF parley.idempotency LANGUAGE plpgsql AS $$
  DECLARE
    found_row parley.idempotency;
  BEGIN
    IF NOT EXISTS (SELECT FROM parley.replicas r WHERE r.id = replica AND r.renewed_at > now() - max_age) THEN
      PERFORM parley.renew(replica, max_age);
    END IF;
    LOOP
      INSERT INTO parley.idempotency (key_id, idempotency_key, body_hash, request_id, replica_id, created_ms, expires_ms)
        VALUES (claim_key, claim_name, claim_hash, claim_request, replica, claim_ms, end_ms) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        RETURN;
      END IF;
      SELECT * INTO found_row FROM parley.idempotency i
        WHERE i.key_id = claim_key AND i.idempotency_key = claim_name FOR UPDATE;
      -- It may have been released in between.
      EXIT WHEN FOUND;
    END LOOP;
    IF (found_row.body IS NOT NULL AND found_row.expires_ms > claim_ms)
      OR (found_row.body IS NULL AND found_row.replica_id IN (
        SELECT id FROM parley.replicas WHERE renewed_at >= now() - 2 * max_age OR NOT EXISTS (
          SELECT FROM parley.replicas own
          WHERE own.id = replica AND own.renewed_at >= now() - max_age AND own.kept_since <= now() - max_age)))
    THEN
      RETURN NEXT found_row;
      RETURN;
    END IF;
    UPDATE parley.idempotency i SET body_hash = claim_hash, request_id = claim_request, replica_id = replica,
        created_ms = claim_ms, expires_ms = end_ms, is_stream = NULL, ignored = NULL, body = NULL
      WHERE i.key_id = claim_key AND i.idempotency_key = claim_name;
  END $$;
`;

export const dropIdempotencyTables = "DROP FUNCTION parley.claim_idempotency; DROP TABLE parley.idempotency";

/** Idempotency keys in PostgreSQL, which any number of servers share. */
export class PostgresIdempotencyStore implements IdempotencyStore {
  readonly #pool: Pool;
  readonly #replicaId: string;
  /** Half of the lease of a replica. */
  readonly #maxAge: string;

  constructor(pool: Pool, leaseMs: number, replicaId: string) {
    this.#pool = pool;
    this.#replicaId = replicaId;
    this.#maxAge = `${leaseMs / 2} ms`;
  }

  async claim(claim: IdempotencyClaim): Promise<ClaimOutcome> {
    const { keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs } = claim;
    const { rows } = await this.#pool.query<IdempotencyRow>({
      name: "claim-idempotency",
      text: "SELECT * FROM parley.claim_idempotency($1, $2, $3, $4, $5, $6, $7, $8)",
      values: [keyId, idempotencyKey, bodyHash, requestId, nowMs, expiresMs, this.#replicaId, this.#maxAge],
    });
    return rows[0] ? toOutcome(rows[0], bodyHash) : { kind: "claimed" };
  }

  async keep(claim: OwnClaim, answer: StoredAnswer, { expiresMs, maxAnswers, maxBytes }: KeptBounds): Promise<void> {
    const { keyId, idempotencyKey, requestId } = claim;
    const { isStream, ignored, body } = answer;
    await this.#pool.query({
      name: "keep-answer",
      text: `UPDATE parley.idempotency SET is_stream = $4, ignored = $5, body = $6, expires_ms = $7
        WHERE key_id = $1 AND idempotency_key = $2 AND request_id = $3 AND body IS NULL`,
      values: [keyId, idempotencyKey, requestId, isStream, ignored, body, expiresMs],
    });
    await this.#pool.query({
      name: "trim-answers",
      text: `DELETE FROM parley.idempotency WHERE (key_id, idempotency_key) IN (
        SELECT key_id, idempotency_key FROM (
          SELECT key_id, idempotency_key, row_number() OVER newest AS place,
            sum(octet_length(body)) OVER newest AS bytes
          FROM parley.idempotency WHERE key_id = $1 AND body IS NOT NULL
          WINDOW newest AS (ORDER BY created_ms DESC, request_id DESC ROWS UNBOUNDED PRECEDING)
        ) AS kept WHERE place > $2 OR bytes > $3)`,
      values: [keyId, maxAnswers, maxBytes],
    });
  }

  async release({ keyId, idempotencyKey, requestId }: OwnClaim): Promise<void> {
    await this.#pool.query(
      "DELETE FROM parley.idempotency WHERE key_id = $1 AND idempotency_key = $2 AND request_id = $3 AND body IS NULL",
      [keyId, idempotencyKey, requestId],
    );
  }

  async prune(expiredBeforeMs: number): Promise<number> {
    // A claim whose replica is still registered may run. The rows of dead replicas are removed.
    const { rowCount } = await this.#pool.query(
      `DELETE FROM parley.idempotency WHERE expires_ms < $1
        AND (body IS NOT NULL OR replica_id NOT IN (SELECT id FROM parley.replicas))`,
      [expiredBeforeMs],
    );
    return rowCount ?? 0;
  }
}
