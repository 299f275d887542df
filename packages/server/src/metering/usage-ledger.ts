import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EngineUsage } from "@parley/inference";
import { inTransaction } from "../state/database.ts";
import { addUsd, priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";

/** How an admitted request ended: completely, cancelled by its client, by an error, or with the server. */
export type Outcome = "complete" | "cancelled" | "failed" | "abandoned";

/** An admitted request, before its end. */
export interface OpenRecord {
  readonly id: string;
  readonly keyId: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly startedMs: number;
  readonly promptTokens: number;
  readonly pricing: Pricing;
}

export const noUsage: EngineUsage = { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, reasoning_tokens: 0 };

/** One row per admitted request in SQLite, opened at admission and closed exactly once. */
export class UsageLedger {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #readSpending: StatementSync;
  readonly #writeSpending: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO requests (id, key_id, model, is_stream, started_ms, outcome, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices)
       VALUES (?, ?, ?, ?, ?, 'open', 0, 0, 0, 0, '0', ?)`,
    );
    this.#update = database.prepare(
      `UPDATE requests SET ended_ms = ?, outcome = ?, error_code = ?, prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?,
       reasoning_tokens = ?, cost_usd = ? WHERE id = ? AND ended_ms IS NULL`,
    );
    this.#readSpending = database.prepare("SELECT cost_usd FROM spending WHERE key_id = ?");
    this.#writeSpending = database.prepare(
      "INSERT INTO spending (key_id, cost_usd) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET cost_usd = excluded.cost_usd",
    );
  }

  /** Throws what SQLite throws when the row cannot be written: then the request must not run. */
  open(record: OpenRecord): void {
    const { id, keyId, model, isStream, startedMs, pricing } = record;
    this.#insert.run(id, keyId, model, Number(isStream), startedMs, JSON.stringify(pricing));
  }

  /** Writes down what running requests have used so far. */
  checkpoint(usages: readonly (readonly [id: string, usage: EngineUsage])[]): void {
    if (usages.length === 0) return;
    inTransaction(this.#database, () => {
      for (const [id, usage] of usages) this.#writeRow(id, null, "open", null, usage, "0");
    });
  }

  /** The end of a request. A row that is closed already stays as it is. */
  close(
    record: OpenRecord,
    usage: EngineUsage,
    outcome: Outcome,
    errorCode: string | undefined,
    endedMs: number,
  ): void {
    const cost = this.costOf(record, usage, outcome);
    inTransaction(this.#database, () => {
      const changes = this.#writeRow(record.id, endedMs, outcome, errorCode ?? null, usage, cost);
      if (changes > 0) this.#writeSpending.run(record.keyId, addUsd(this.spentUsd(record.keyId), cost));
    });
  }

  /** A failure that produced nothing costs nothing. */
  costOf(record: OpenRecord, usage: EngineUsage, outcome: Outcome): string {
    const isFree = usage.completion_tokens === 0 && (outcome === "failed" || outcome === "abandoned");
    return isFree ? "0" : priceOf(usage, record.pricing);
  }

  /** Throws what SQLite throws when nothing can be written at the moment. */
  assertWritable(): void {
    const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
    inTransaction(this.#database, () => {
      this.open({ id: "probe", keyId: "", model: "", isStream: false, startedMs: 0, promptTokens: 0, pricing });
      this.#database.exec("DELETE FROM requests WHERE id = 'probe'");
    });
  }

  #writeRow(
    id: string,
    endedMs: number | null,
    outcome: string,
    errorCode: string | null,
    usage: EngineUsage,
    cost: string,
  ): number {
    const { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens } = usage;
    return Number(
      this.#update.run(
        endedMs,
        outcome,
        errorCode,
        prompt_tokens,
        cached_tokens,
        completion_tokens,
        reasoning_tokens,
        cost,
        id,
      ).changes,
    );
  }

  /** What a key has spent, in US dollars, exactly. */
  spentUsd(keyId: string): string {
    const row = this.#readSpending.get(keyId);
    return typeof row?.["cost_usd"] === "string" ? row["cost_usd"] : "0";
  }

  /** Closes the rows that a dead server has left open, with what was last known of them. @returns how many */
  closeAbandoned(endedMs: number): number {
    const rows = this.#database
      .prepare("SELECT * FROM requests WHERE ended_ms IS NULL")
      .all() as unknown as LedgerRow[]; // the columns of the table
    for (const row of rows) {
      const record = {
        id: row.id,
        keyId: row.key_id,
        model: row.model,
        isStream: row.is_stream === 1,
        startedMs: row.started_ms,
        promptTokens: row.prompt_tokens,
      };
      const pricing = JSON.parse(row.prices) as Pricing; // written by open()
      this.close({ ...record, pricing }, row, "abandoned", undefined, endedMs);
    }
    return rows.length;
  }
}

/** A row as it is stored; the token counts have the names of the contract. */
export interface LedgerRow extends EngineUsage {
  readonly id: string;
  readonly key_id: string;
  readonly model: string;
  readonly is_stream: number;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly cost_usd: string;
  readonly prices: string;
}
