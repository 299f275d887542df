import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Big } from "big.js";
import { monthOf } from "../accounts/money/month.ts";
import { affordableTokens, costOf } from "../accounts/money/budgets.ts";
import type {
  BudgetShortage,
  Checkpoint,
  CloseRecord,
  EntrySelection,
  Hold,
  HoldRequest,
  LedgerEntry,
  OpenRecord,
  UsageLedger,
} from "../accounts/ledger/usage-ledger.ts";
import type { DiskSync } from "./disk-sync.ts";
import { countsOf, toCondition, toEntry } from "./entry-row.ts";
import type { EntryRow } from "./entry-row.ts";
import { Spending } from "./spending.ts";
import { inTransaction } from "./transaction.ts";
import { WriteGroup } from "./write-group.ts";

/**
 * The ledger in SQLite, one row per entry. `Spending` has the money of each key, which changes in the same transaction as the
 * entries. Commits are synced to the disk within 50 ms. When a sync fails, the ledger refuses new entries until one
 * succeeds.
 */
export class SqliteUsageLedger implements UsageLedger, Disposable {
  readonly #database: DatabaseSync;
  readonly #sync: DiskSync;
  readonly #group: WriteGroup;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #close: StatementSync;
  readonly #withdraw: StatementSync;
  readonly #spending: Spending;

  constructor(database: DatabaseSync, sync: DiskSync) {
    const counts = "prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, reasoning_tokens = ?";
    this.#database = database;
    this.#sync = sync;
    this.#spending = new Spending(database);
    this.#group = new WriteGroup(database, {
      finish: () => this.#spending.write(),
      onEnd: (isCommitted) => {
        this.#spending.forget();
        if (isCommitted) sync.noteCommit();
      },
    });
    this.#insert = database.prepare(
      `INSERT INTO requests (id, key_id, model, is_stream, started_ms, outcome, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices, held_usd)
       VALUES (?, ?, ?, ?, ?, 'open', 0, 0, 0, 0, '0', ?, ?)`,
    );
    this.#update = database.prepare(`UPDATE requests SET ${counts} WHERE id = ? AND ended_ms IS NULL`);
    this.#close = database.prepare(
      `UPDATE requests SET ${counts}, outcome = ?, error_code = ?, cost_usd = ?, ended_ms = ?
       WHERE id = ? AND ended_ms IS NULL RETURNING held_usd`,
    );
    this.#withdraw = database.prepare(
      "DELETE FROM requests WHERE id = ? AND ended_ms IS NULL RETURNING key_id, held_usd",
    );
  }

  async open(record: OpenRecord, hold?: HoldRequest): Promise<Hold | BudgetShortage | undefined> {
    this.#sync.assertSound();
    let opened: Hold | BudgetShortage | undefined;
    await this.#group.add(() => void (opened = hold ? this.#openWith(hold, record) : this.#open(record)));
    return opened;
  }

  #openWith({ budgets, bound }: HoldRequest, record: OpenRecord): Hold | BudgetShortage {
    const { rest, held } = this.#spending.restOf(record.keyId, budgets, monthOf(record.startedMs));
    const maxTokens = affordableTokens(bound, rest);
    if (maxTokens === 0) return { restUsd: rest.toFixed(), heldUsd: held.toFixed() };
    const amount = costOf(bound, maxTokens);
    const heldUsd = amount.toFixed();
    this.#open(record, heldUsd);
    this.#spending.hold(record.keyId, amount);
    return { maxTokens, heldUsd };
  }

  #open({ id, keyId, model, isStream, startedMs, pricing }: OpenRecord, heldUsd = "0"): undefined {
    this.#insert.run(id, keyId, model, Number(isStream), startedMs, JSON.stringify(pricing), heldUsd);
  }

  async withdraw(id: string): Promise<void> {
    await this.#group.add(() => {
      const row = this.#withdraw.get(id);
      if (row) this.#release(String(row["key_id"]), String(row["held_usd"]));
    });
  }

  #release(keyId: string, heldUsd: string): void {
    if (heldUsd !== "0") this.#spending.hold(keyId, new Big(heldUsd).neg());
  }

  async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
    await this.#group.add(() => {
      for (const { id, usage } of checkpoints) this.#update.run(...countsOf(usage), id);
    });
  }

  async close({ id, keyId, usage, outcome, errorCode, costUsd, endedMs }: CloseRecord): Promise<void> {
    await this.#group.add(() => {
      const row = this.#close.get(...countsOf(usage), outcome, errorCode ?? null, costUsd, endedMs, id);
      if (!row) return;
      this.#release(keyId, String(row["held_usd"]));
      this.#spending.spend(keyId, monthOf(endedMs), costUsd);
    });
  }

  /** A data folder has one server at a time, so every entry that is open when it starts belongs to a dead server. */
  async abandoned(): Promise<LedgerEntry[]> {
    return this.#select("WHERE ended_ms IS NULL").map(toEntry);
  }

  async spentUsd(keyId: string, month?: string): Promise<string> {
    return this.#spending.spentUsd(keyId, month);
  }

  async find(id: string): Promise<LedgerEntry | undefined> {
    return this.#select("WHERE id = ?", id).map(toEntry)[0];
  }

  async *entries(
    selection: EntrySelection = {},
    order: "oldest first" | "newest first" = "oldest first",
  ): AsyncGenerator<LedgerEntry> {
    const { condition, values } = toCondition(selection);
    const direction = order === "oldest first" ? "ASC" : "DESC";
    const rows = this.#database
      .prepare(`SELECT * FROM requests WHERE ${condition} ORDER BY started_ms ${direction}, id ${direction}`)
      .iterate(...values);
    for (const row of rows) yield toEntry(row as unknown as EntryRow); // the columns of the table
  }

  /** Deletes in small steps, so a server can write in between. */
  async prune(endedBeforeMs: number): Promise<number> {
    const { condition, values } = toCondition({ endedBeforeMs });
    const step = this.#database.prepare(
      `DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE ${condition} LIMIT 2000)`,
    );
    let removed = 0;
    for (let changes = -1; changes !== 0; removed += changes) changes = Number(step.run(...values).changes);
    return removed;
  }

  async assertWritable(): Promise<void> {
    const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
    inTransaction(this.#database, () => {
      this.#open({ id: "probe", keyId: "", model: "", isStream: false, startedMs: 0, pricing });
      this.#database.exec("DELETE FROM requests WHERE id = 'probe'");
    });
    await this.#sync.flush();
  }

  /** Writes the waiting changes. Must be called before the database is closed. */
  [Symbol.dispose](): void {
    this.#group[Symbol.dispose]();
  }

  #select(condition: string, ...values: string[]): EntryRow[] {
    const rows = this.#database.prepare(`SELECT * FROM requests ${condition}`).all(...values);
    return rows as unknown as EntryRow[]; // the columns of the table
  }
}
