import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Big } from "big.js";
import { sumUsage } from "../accounts/ledger/sum-usage.ts";
import type { Grouping, UsageSum } from "../accounts/ledger/sum-usage.ts";
import { monthOf } from "../accounts/money/month.ts";
import { slotOf } from "../accounts/money/period.ts";
import type { Span } from "../accounts/money/period.ts";
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
import { countsOf, groupColumns, tokenSums, toCondition, toEntry, toSums } from "./entry-row.ts";
import type { EntryRow, SumRow } from "./entry-row.ts";
import { Spending } from "./spending.ts";
import { whenUnlocked } from "./transaction.ts";
import { WriteGroup } from "./write-group.ts";

/** The part of an entry that says what it holds, and of whom. */
interface ChargedRow extends Pick<EntryRow, "key_id" | "started_ms" | "group_id" | "parent_group_id"> {
  readonly held_usd: string;
}

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
    const charged = "key_id, started_ms, held_usd, group_id, parent_group_id";
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
      `INSERT INTO requests (id, key_id, model, is_stream, started_ms, outcome, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices, held_usd, group_id, parent_group_id)
       VALUES (?, ?, ?, ?, ?, 'open', 0, 0, 0, 0, '0', ?, ?, ?, ?)`,
    );
    this.#update = database.prepare(`UPDATE requests SET ${counts} WHERE id = ? AND ended_ms IS NULL`);
    this.#close = database.prepare(
      `UPDATE requests SET ${counts}, outcome = ?, error_code = ?, cost_usd = ?, ended_ms = ?
       WHERE id = ? AND ended_ms IS NULL RETURNING ${charged}`,
    );
    this.#withdraw = database.prepare(`DELETE FROM requests WHERE id = ? AND ended_ms IS NULL RETURNING ${charged}`);
  }

  async open(record: OpenRecord, hold?: HoldRequest): Promise<Hold | BudgetShortage | undefined> {
    this.#sync.assertSound();
    let opened: Hold | BudgetShortage | undefined;
    await this.#group.add(() => void (opened = hold ? this.#openWith(hold, record) : this.#open(record)));
    return opened;
  }

  #openWith({ budgets, bound }: HoldRequest, record: OpenRecord): Hold | BudgetShortage {
    const { keyId, startedMs, groupIds = [] } = record;
    const rests = this.#spending.restsOf(keyId, budgets, monthOf(startedMs));
    const { rest, held, of } = rests.reduce((one, other) => (other.rest.lt(one.rest) ? other : one));
    const maxTokens = affordableTokens(bound, rest);
    if (maxTokens === 0) return { restUsd: rest.toFixed(), heldUsd: held.toFixed(), ...of };
    const amount = costOf(bound, maxTokens);
    const heldUsd = amount.toFixed();
    this.#open(record, heldUsd);
    this.#spending.hold(keyId, amount);
    for (const id of groupIds) this.#spending.groups.add(id, startedMs, { spent: new Big(0), held: amount });
    return { maxTokens, heldUsd };
  }

  #open({ id, keyId, model, isStream, startedMs, pricing, groupIds }: OpenRecord, heldUsd = "0"): undefined {
    const [group = null, parent = null] = groupIds ?? [];
    this.#insert.run(id, keyId, model, Number(isStream), startedMs, JSON.stringify(pricing), heldUsd, group, parent);
  }

  async withdraw(id: string): Promise<void> {
    await this.#group.add(() => {
      const row = this.#withdraw.get(id);
      if (row) this.#settle(row as unknown as ChargedRow, "0"); // the columns of `charged`
    });
  }

  /** Releases the hold of an entry that is no longer open, and charges its cost to its groups. */
  #settle(row: ChargedRow, costUsd: string): void {
    const amounts = { spent: new Big(costUsd), held: new Big(row.held_usd).neg() };
    if (row.held_usd !== "0") this.#spending.hold(row.key_id, amounts.held);
    for (const id of [row.group_id, row.parent_group_id])
      if (id !== null) this.#spending.groups.add(id, row.started_ms, amounts);
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
      this.#settle(row as unknown as ChargedRow, costUsd); // the columns of `charged`
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

  async spentByKey(month?: string): Promise<ReadonlyMap<string, string>> {
    return this.#spending.spentByKey(month);
  }

  async groupSpentUsd(groupId: string, span: Span): Promise<string> {
    return this.#spending.groups.spentUsd(groupId, span);
  }

  /** Joins in small steps, so a server can write in between. */
  async joinOldSpending(beforeMs: number): Promise<number> {
    const slot = slotOf(beforeMs);
    let removed = 0;
    for (const id of this.#spending.groups.groupIds())
      for (let joined = await this.#join(id, slot); joined > 0; joined = await this.#join(id, slot)) removed += joined;
    return removed;
  }

  async #join(groupId: string, beforeSlot: number): Promise<number> {
    let joined = 0;
    await this.#group.add(() => void (joined = this.#spending.groups.joinSlots(groupId, beforeSlot)));
    return joined;
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

  /**
   * SQLite has no decimals. It adds up dollars and ten-billionths of a dollar as integers, which is exact for costs with at
   * most ten decimals. Longer costs are rare, and are added up here.
   */
  async sum(selection: EntrySelection, by: Grouping): Promise<UsageSum[]> {
    const { condition, values } = toCondition(selection);
    const statement = this.#database.prepare(
      `SELECT ${groupColumns[by]} AS "group", count(*) AS requests, ${tokenSums},
         sum(CAST(cost_usd AS INTEGER)) AS dollars,
         sum(CASE instr(cost_usd, '.') WHEN 0 THEN 0
           ELSE CAST(substr(cost_usd || '0000000000', instr(cost_usd, '.') + 1, 10) AS INTEGER) END) AS parts,
         max(length(cost_usd)) AS longest
       FROM requests WHERE ${condition} GROUP BY 1`,
    );
    statement.setReadBigInts(true);
    const rows = statement.all(...values) as unknown as (SumRow & Record<"dollars" | "parts" | "longest", bigint>)[]; // its columns
    if (rows.some(({ longest }) => longest > "0.0123456789".length)) return sumUsage(this.entries(selection), by);
    return toSums(
      rows.map((row) => ({ ...row, cost_usd: new Big(`${row.parts}e-10`).plus(String(row.dollars)).toFixed() })),
      by,
    );
  }

  /** Deletes in small steps, so a server can write in between. */
  async prune(endedBeforeMs: number): Promise<number> {
    const { condition, values } = toCondition({ endedBeforeMs });
    const step = this.#database.prepare(
      `DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE ${condition} LIMIT 2000)`,
    );
    let removed = 0;
    for (let changes = -1; changes !== 0; removed += changes)
      changes = Number((await whenUnlocked(this.#database, () => step.run(...values))).changes);
    return removed;
  }

  async assertWritable(): Promise<void> {
    const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
    await this.#group.add(() => {
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
