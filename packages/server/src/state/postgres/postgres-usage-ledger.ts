import { Big } from "big.js";
import { DatabaseError } from "pg";
import type { Pool, QueryConfig } from "pg";
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
} from "../../accounts/ledger/usage-ledger.ts";
import type { Grouping, UsageSum } from "../../accounts/ledger/sum-usage.ts";
import { monthOf } from "../../accounts/money/month.ts";
import type { Span } from "../../accounts/money/period.ts";
import { countsOf, groupColumns, tokenSums, toCondition, toEntry, toSums } from "../entry-row.ts";
import type { EntryRow, SumRow } from "../entry-row.ts";
import { CallGroups } from "./call-groups.ts";
import { joinSlots, readGroupSpent } from "./group-spending.ts";
import { openQuery } from "./open-in-groups.ts";
import { columnsOf } from "./open-request.ts";
import type { OpenCall } from "./open-request.ts";

/** The results of `parley.open_request`. The numbers of dollars are decimal strings; `rest` is null without a hold. */
interface OpenRow {
  readonly tokens: number | null;
  readonly held: string;
  readonly rest: string | null;
  /** The group whose budget is the tightest. */
  readonly short_of?: string | null;
  readonly is_monthly: boolean | null;
}

/** Maximum number of entries that `entries` reads at once. */
const maxPageRows = 1000;
/** Maximum milliseconds of a statement that reads the whole ledger. */
const maxReportMs = 600_000;
/** Maximum number of entries that `prune` removes in one transaction. */
const maxPrunedRows = 2000;

const toUsd = (amount: string): string => new Big(amount).toFixed();

/**
 * The ledger in PostgreSQL, which any number of servers share. Each server is a replica with a lease: a row of `replicas`
 * that it renews four times in `leaseMs`, by the clock of the database. A replica without a valid lease is dead, and its
 * open entries are abandoned.
 */
export class PostgresUsageLedger implements UsageLedger, AsyncDisposable {
  readonly #pool: Pool;
  readonly #replicaId: string;
  /** Half of the lease. A server whose lease gets older has missed a renewal: perhaps the database was away. */
  readonly #maxAge: string;
  readonly #renewing: NodeJS.Timeout;
  /** True after the first write. A command that only reads is not a replica. */
  #isReplica = false;
  /**
   * Entries that may exist although `open` has rejected, because the connection was lost before its answer, with the time of
   * the loss. The statement may still run, so they are withdrawn more than once.
   */
  readonly #doubtful = new Map<string, number>();
  readonly #leaseMs: number;
  readonly #opens = new CallGroups((calls: readonly OpenCall[]) => this.#openAll(calls));
  readonly #closes = new CallGroups((records: readonly CloseRecord[]) => this.#closeAll(records));

  /** @param replicaId a UUID that no other server has */
  constructor(pool: Pool, leaseMs: number, replicaId: string) {
    this.#pool = pool;
    this.#replicaId = replicaId;
    this.#leaseMs = leaseMs;
    this.#maxAge = `${leaseMs / 2} ms`;
    // A renewal that fails is repeated by the next one.
    this.#renewing = setInterval(() => void this.#renew().catch(() => undefined), leaseMs / 4).unref();
  }

  async #renew(): Promise<void> {
    if (!this.#isReplica) return;
    await this.#pool.query("SELECT parley.renew($1, $2)", [this.#replicaId, this.#maxAge]);
    for (const [id, sinceMs] of this.#doubtful) {
      await this.withdraw(id);
      if (performance.now() - sinceMs > this.#leaseMs / 2) this.#doubtful.delete(id);
    }
  }

  async open(record: OpenRecord, hold?: HoldRequest): Promise<Hold | BudgetShortage | undefined> {
    this.#isReplica = true;
    if (this.#doubtful.delete(record.id)) await this.withdraw(record.id);
    const opened = await this.#opens.call(lockedRowsOf(record), { record, hold }).catch((error: unknown) => {
      // An error that PostgreSQL has reported was rolled back.
      if (!(error instanceof DatabaseError)) this.#doubtful.set(record.id, performance.now());
      throw error;
    });
    if (opened.tokens === null || opened.rest === null) return undefined;
    const heldUsd = toUsd(opened.held);
    if (opened.tokens > 0) return { maxTokens: opened.tokens, heldUsd };
    const { rest, short_of: groupId, is_monthly: isMonthly } = opened;
    return { restUsd: toUsd(rest), heldUsd, ...(groupId && { groupId }), ...(isMonthly && { isMonthly }) };
  }

  async #openAll(requests: readonly OpenCall[]): Promise<readonly OpenRow[]> {
    const query = openQuery(requests, [this.#replicaId, this.#maxAge]);
    return (await this.#pool.query<OpenRow>(query)).rows;
  }

  async withdraw(id: string): Promise<void> {
    await this.#pool.query(
      `WITH withdrawn AS (DELETE FROM parley.requests WHERE id = $1 AND ended_ms IS NULL RETURNING key_id, held_usd)
       INSERT INTO parley.spending AS old (key_id, held_usd) SELECT key_id, -held_usd FROM withdrawn
       ON CONFLICT (key_id) DO UPDATE SET held_usd = old.held_usd + excluded.held_usd`,
      [id],
    );
  }

  async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
    await this.#pool.query({
      name: "checkpoint",
      text: `UPDATE parley.requests old SET prompt_tokens = new.prompt, cached_tokens = new.cached,
         completion_tokens = new.completion, reasoning_tokens = new.reasoning
       FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
         AS new (id, prompt, cached, completion, reasoning)
       WHERE old.id = new.id AND old.ended_ms IS NULL`,
      values: columnsOf(checkpoints.map(({ id, usage }) => [id, ...countsOf(usage)])),
    });
  }

  close(record: CloseRecord): Promise<void> {
    return this.#closes.call(lockedRowsOf(record), record);
  }

  /**
   * The charges and the releases depend on the rows that this call has closed, so a second call changes nothing. A trigger
   * charges the groups.
   */
  async #closeAll(records: readonly CloseRecord[]): Promise<readonly undefined[]> {
    const rows = records.map(({ id, usage, outcome, errorCode, costUsd, endedMs }) => {
      return [id, ...countsOf(usage), outcome, errorCode, costUsd, endedMs, monthOf(endedMs)];
    });
    await this.#pool.query({
      name: "close-requests",
      text: `WITH closed AS (
           UPDATE parley.requests old SET prompt_tokens = new.prompt, cached_tokens = new.cached,
             completion_tokens = new.completion, reasoning_tokens = new.reasoning, outcome = new.outcome,
             error_code = new.error_code, cost_usd = new.cost_usd, ended_ms = new.ended_ms
           FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
             $8::numeric[], $9::bigint[], $10::text[])
             AS new (id, prompt, cached, completion, reasoning, outcome, error_code, cost_usd, ended_ms, month)
           WHERE old.id = new.id AND old.ended_ms IS NULL
           RETURNING old.key_id, old.cost_usd, old.held_usd, new.month
         ), charged AS (
           INSERT INTO parley.spending AS old (key_id, cost_usd, held_usd)
             SELECT key_id, sum(cost_usd), -sum(held_usd) FROM closed GROUP BY key_id ORDER BY key_id
           ON CONFLICT (key_id) DO UPDATE
           SET cost_usd = old.cost_usd + excluded.cost_usd, held_usd = old.held_usd + excluded.held_usd
         )
         INSERT INTO parley.monthly_spending AS old (key_id, month, cost_usd)
           SELECT key_id, month, sum(cost_usd) FROM closed GROUP BY key_id, month ORDER BY key_id, month
         ON CONFLICT (key_id, month) DO UPDATE SET cost_usd = old.cost_usd + excluded.cost_usd`,
      values: columnsOf(rows),
    });
    return records.map(() => undefined);
  }

  /**
   * Returns the entries of replicas that have ended, and of those whose lease has expired. After the database was away, all
   * leases may have expired although their replicas live. So expired leases count only once this replica has renewed its
   * own for half of the lease: then the others have had the time to renew theirs.
   */
  async abandoned(): Promise<LedgerEntry[]> {
    return this.#select(
      `WHERE ended_ms IS NULL AND replica_id NOT IN (
         SELECT id FROM parley.replicas WHERE renewed_at >= now() - 2 * $1::interval OR NOT EXISTS (
           SELECT FROM parley.replicas own
           WHERE own.id = $2 AND own.renewed_at >= now() - $1::interval AND own.kept_since <= now() - $1::interval))`,
      [this.#maxAge, this.#replicaId],
    );
  }

  async spentUsd(keyId: string, month?: string): Promise<string> {
    const { rows } = await this.#pool.query<{ cost_usd: string }>(
      month === undefined
        ? { name: "spent", text: "SELECT cost_usd FROM parley.spending WHERE key_id = $1", values: [keyId] }
        : {
            name: "spent-in-month",
            text: "SELECT cost_usd FROM parley.monthly_spending WHERE key_id = $1 AND month = $2",
            values: [keyId, month],
          },
    );
    return toUsd(rows[0]?.cost_usd ?? "0");
  }

  async spentByKey(month?: string): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.query<{ key_id: string; cost_usd: string }>(
      month === undefined
        ? "SELECT key_id, cost_usd FROM parley.spending"
        : { text: "SELECT key_id, cost_usd FROM parley.monthly_spending WHERE month = $1", values: [month] },
    );
    return new Map(rows.map((row) => [row.key_id, toUsd(row.cost_usd)]));
  }

  groupSpentUsd(groupId: string, span: Span): Promise<string> {
    return readGroupSpent(this.#pool, groupId, span);
  }

  joinOldSpending(beforeMs: number): Promise<number> {
    return joinSlots(this.#pool, beforeMs);
  }

  async find(id: string): Promise<LedgerEntry | undefined> {
    return (await this.#select("WHERE id = $1", [id]))[0];
  }

  /** Reads in pages, so no transaction stays open while the caller works. */
  async *entries(
    selection: EntrySelection = {},
    order: "oldest first" | "newest first" = "oldest first",
  ): AsyncGenerator<LedgerEntry> {
    const { condition, values } = numbered(selection);
    const [direction, after] = order === "oldest first" ? (["ASC", ">"] as const) : (["DESC", "<"] as const);
    const places = [`$${values.length + 1}`, `$${values.length + 2}`].join(", ");
    const end = `ORDER BY started_ms ${direction}, id ${direction} LIMIT ${maxPageRows}`;
    let page = await this.#select(`WHERE ${condition} ${end}`, values);
    for (;;) {
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < maxPageRows) return;
      const next = `WHERE ${condition} AND (started_ms, id) ${after} (${places}) ${end}`;
      page = await this.#select(next, [...values, last.startedMs, last.id]);
    }
  }

  async sum(selection: EntrySelection, by: Grouping): Promise<UsageSum[]> {
    const { condition, values } = numbered(selection);
    const rows = await this.#queryLong<SumRow & { cost_usd: string }>(
      `SELECT ${groupColumns[by]} AS "group", count(*) AS requests, ${tokenSums}, sum(cost_usd) AS cost_usd
       FROM parley.requests WHERE ${condition} GROUP BY 1`,
      values,
    );
    return toSums(
      rows.map((row) => ({ ...row, cost_usd: toUsd(row.cost_usd) })),
      by,
    );
  }

  /** Runs a statement that reads the whole ledger, which may take longer than the statements of requests. */
  async #queryLong<Row extends object>(text: string, values: (string | number)[]): Promise<Row[]> {
    const client = await this.#pool.connect();
    try {
      await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${maxReportMs}`);
      const { rows } = await client.query<Row>({ text, values, query_timeout: maxReportMs } as QueryConfig); // @types/pg lacks it
      await client.query("COMMIT");
      client.release();
      return rows;
    } catch (error) {
      // The connection may still run the statement, so it is closed.
      client.release(true);
      throw error;
    }
  }

  async prune(endedBeforeMs: number): Promise<number> {
    const { condition, values } = numbered({ endedBeforeMs });
    const step = `DELETE FROM parley.requests
      WHERE id IN (SELECT id FROM parley.requests WHERE ${condition} ORDER BY started_ms LIMIT ${maxPrunedRows})`;
    for (let removed = 0; ;) {
      const { rowCount } = await this.#pool.query(step, values);
      removed += rowCount ?? 0;
      if (!rowCount) return removed;
    }
  }

  /** Renews the lease of this replica, which is a write. */
  async assertWritable(): Promise<void> {
    this.#isReplica = true;
    await this.#renew();
  }

  /** Ends the lease. If the database is away, the lease expires instead. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#renewing);
    if (!this.#isReplica) return;
    await this.#pool.query("DELETE FROM parley.replicas WHERE id = $1", [this.#replicaId]).catch(() => undefined);
  }

  async #select(condition: string, values: readonly (string | number)[]): Promise<LedgerEntry[]> {
    const { rows } = await this.#pool.query<EntryRow>(`SELECT * FROM parley.requests ${condition}`, [...values]);
    return rows.map(toEntry);
  }
}

/** Returns the same text for entries of one key with the same groups: their transactions lock the same rows, in one order. */
const lockedRowsOf = ({ keyId, groupIds = [] }: Pick<OpenRecord, "keyId" | "groupIds">): string =>
  [keyId, ...groupIds].join(" ");

/** Returns the condition of a selection, with `$1`, `$2` and so on in the places of its values. */
function numbered(selection: EntrySelection): ReturnType<typeof toCondition> {
  const { condition, values } = toCondition(selection);
  let count = 0;
  return { condition: condition.replaceAll("?", () => `$${(count += 1)}`), values };
}
