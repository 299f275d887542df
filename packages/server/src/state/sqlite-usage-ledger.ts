import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EngineUsage } from "@parley/inference";
import { monthOf } from "../accounts/money/month.ts";
import { addUsd } from "../accounts/money/price.ts";
import type { Pricing } from "../accounts/money/price.ts";
import { fromTokenColumns } from "../accounts/ledger/token-columns.ts";
import type { TokenColumns } from "../accounts/ledger/token-columns.ts";
import type {
  Checkpoint,
  CloseRecord,
  EntrySelection,
  LedgerEntry,
  OpenRecord,
  UsageLedger,
} from "../accounts/ledger/usage-ledger.ts";
import type { DiskSync } from "./disk-sync.ts";
import { inTransaction } from "./transaction.ts";
import { WriteGroup } from "./write-group.ts";

interface EntryRow extends TokenColumns {
  readonly id: string;
  readonly key_id: string;
  readonly model: string;
  readonly is_stream: number;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly outcome: LedgerEntry["outcome"];
  readonly error_code: string | null;
  readonly cost_usd: string;
  readonly prices: string;
}

/**
 * The ledger in SQLite, one row per entry. Separate tables have the spending of each key, in total and by month. They
 * change in the same transaction as the entries. The sums are computed here, because SQLite has no decimals. Commits are
 * synced to the disk within 50 ms. When a sync fails, the ledger refuses new entries until one succeeds.
 */
export class SqliteUsageLedger implements UsageLedger, Disposable {
  readonly #database: DatabaseSync;
  readonly #sync: DiskSync;
  readonly #group: WriteGroup;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #close: StatementSync;
  readonly #ever: SpendingStatements;
  readonly #monthly: SpendingStatements;
  /** The costs of the entries that the running transaction has closed. */
  #costs: Cost[] = [];

  constructor(database: DatabaseSync, sync: DiskSync) {
    const counts = "prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, reasoning_tokens = ?";
    this.#database = database;
    this.#sync = sync;
    this.#group = new WriteGroup(database, {
      finish: () => this.#addUpCosts(),
      onEnd: (isCommitted) => {
        this.#costs = [];
        if (isCommitted) sync.noteCommit();
      },
    });
    this.#insert = database.prepare(
      `INSERT INTO requests (id, key_id, model, is_stream, started_ms, outcome, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices)
       VALUES (?, ?, ?, ?, ?, 'open', 0, 0, 0, 0, '0', ?)`,
    );
    this.#update = database.prepare(`UPDATE requests SET ${counts} WHERE id = ? AND ended_ms IS NULL`);
    this.#close = database.prepare(
      `UPDATE requests SET ${counts}, outcome = ?, error_code = ?, cost_usd = ?, ended_ms = ?
       WHERE id = ? AND ended_ms IS NULL`,
    );
    this.#ever = {
      read: database.prepare("SELECT cost_usd FROM spending WHERE key_id = ?"),
      write: database.prepare(
        "INSERT INTO spending (key_id, cost_usd) VALUES (?, ?) ON CONFLICT DO UPDATE SET cost_usd = excluded.cost_usd",
      ),
    };
    this.#monthly = {
      read: database.prepare("SELECT cost_usd FROM monthly_spending WHERE key_id = ? AND month = ?"),
      write: database.prepare(
        `INSERT INTO monthly_spending (key_id, month, cost_usd) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET cost_usd = excluded.cost_usd`,
      ),
    };
  }

  async open(record: OpenRecord): Promise<void> {
    this.#sync.assertSound();
    await this.#group.add(() => this.#open(record));
  }

  #open({ id, keyId, model, isStream, startedMs, pricing }: OpenRecord): void {
    this.#insert.run(id, keyId, model, Number(isStream), startedMs, JSON.stringify(pricing));
  }

  async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
    await this.#group.add(() => {
      for (const { id, usage } of checkpoints) this.#update.run(...countsOf(usage), id);
    });
  }

  async close({ id, keyId, usage, outcome, errorCode, costUsd, endedMs }: CloseRecord): Promise<void> {
    await this.#group.add(() => {
      const { changes } = this.#close.run(...countsOf(usage), outcome, errorCode ?? null, costUsd, endedMs, id);
      if (changes > 0) this.#costs.push({ keyId, month: monthOf(endedMs), costUsd });
    });
  }

  /** Adds the costs of a transaction to the spending tables, with one write per key and month. */
  #addUpCosts(): void {
    for (const [keyId, ofKey = []] of Object.entries(Object.groupBy(this.#costs, ({ keyId }) => keyId))) {
      addTo(this.#ever, [keyId], ofKey);
      for (const [month, ofMonth = []] of Object.entries(Object.groupBy(ofKey, ({ month }) => month)))
        addTo(this.#monthly, [keyId, month], ofMonth);
    }
  }

  /** A data folder has one server at a time, so every entry that is open when it starts belongs to a dead server. */
  async abandoned(): Promise<LedgerEntry[]> {
    return this.#select("WHERE ended_ms IS NULL").map(toEntry);
  }

  async spentUsd(keyId: string, month?: string): Promise<string> {
    return month === undefined ? spentIn(this.#ever, [keyId]) : spentIn(this.#monthly, [keyId, month]);
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

/** The cost of a closed entry. */
interface Cost {
  readonly keyId: string;
  readonly month: string;
  readonly costUsd: string;
}

/** The statements of a spending table: by key, or by key and month. */
interface SpendingStatements {
  readonly read: StatementSync;
  readonly write: StatementSync;
}

function spentIn({ read }: SpendingStatements, of: readonly string[]): string {
  const row = read.get(...of);
  return typeof row?.["cost_usd"] === "string" ? row["cost_usd"] : "0";
}

function addTo(spending: SpendingStatements, of: readonly string[], costs: readonly Cost[]): void {
  spending.write.run(...of, addUsd(spentIn(spending, of), ...costs.map(({ costUsd }) => costUsd)));
}

function toCondition(selection: EntrySelection): { readonly condition: string; readonly values: (string | number)[] } {
  const { sinceMs, untilMs, endedBeforeMs, keyId, model, outcome, errorCode } = selection;
  const parts: readonly (readonly [condition: string, value: string | number | undefined])[] = [
    ["started_ms >= ?", sinceMs],
    ["started_ms < ?", untilMs],
    ["ended_ms < ?", endedBeforeMs],
    // Implied by the condition before it, since no entry starts after its end. It lets SQLite use the index on
    // `started_ms`.
    ["started_ms < ?", endedBeforeMs],
    ["key_id = ?", keyId],
    ["model = ?", model],
    ["outcome = ?", outcome],
    ["error_code = ?", errorCode],
  ];
  const given = parts.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return {
    condition: ["TRUE", ...given.map(({ condition }) => condition)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}

const countsOf = (usage: EngineUsage): number[] => [
  usage.promptTokens,
  usage.cachedTokens,
  usage.completionTokens,
  usage.reasoningTokens,
];

const toEntry = (row: EntryRow): LedgerEntry => ({
  id: row.id,
  keyId: row.key_id,
  model: row.model,
  isStream: row.is_stream === 1,
  startedMs: row.started_ms,
  pricing: JSON.parse(row.prices) as Pricing, // written by open()
  usage: fromTokenColumns(row),
  costUsd: row.cost_usd,
  outcome: row.outcome,
  errorCode: row.error_code ?? undefined,
  endedMs: row.ended_ms ?? undefined,
});
