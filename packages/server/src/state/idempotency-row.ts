import type { ClaimOutcome } from "../accounts/idempotency/idempotency-store.ts";

/** A row of the table `idempotency`, which has the same columns in SQLite and in PostgreSQL. */
export interface IdempotencyRow {
  readonly body_hash: string;
  readonly request_id: string;
  readonly is_stream: number | boolean | null;
  readonly ignored: string | null;
  /** Null while the request runs. */
  readonly body: Uint8Array | null;
}

/** Returns the outcome of a claim that finds a row. @param bodyHash that of the claim */
export function toOutcome(row: IdempotencyRow, bodyHash: string): ClaimOutcome {
  const { request_id: requestId, body } = row;
  if (row.body_hash !== bodyHash) return { kind: "other body", requestId };
  if (!body) return { kind: "running", requestId };
  const answer = { requestId, isStream: Boolean(row.is_stream), ignored: row.ignored ?? undefined, body };
  return { kind: "answered", answer };
}
