import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Big } from "big.js";
import { slotOf } from "../accounts/money/period.ts";
import type { Span } from "../accounts/money/period.ts";

/** US dollars that the requests of a group have spent and hold. */
interface Amounts {
  readonly spent: Big;
  readonly held: Big;
}

interface PeriodAmounts extends Amounts, Span {}

const nothing: Amounts = { spent: new Big(0), held: new Big(0) };
const plus = (one: Amounts, other: Amounts): Amounts => ({
  spent: one.spent.plus(other.spent),
  held: one.held.plus(other.held),
});

/**
 * The money of all groups in SQLite, by the quarter of an hour in which a request started. The sums of the period that was
 * asked for last are kept, so most requests read one row. A transaction reads and writes each row once.
 */
export class GroupSpending {
  readonly #readPeriod: StatementSync;
  readonly #writePeriod: StatementSync;
  readonly #readSlots: StatementSync;
  readonly #writeSlot: StatementSync;
  readonly #readSlot: StatementSync;
  readonly #nextGroup: StatementSync;
  readonly #readOldSlots: StatementSync;
  readonly #deleteSlot: StatementSync;
  /** The sums that the running transaction has read, and may have changed. */
  readonly #periods = new Map<string, PeriodAmounts>();
  /** The slots that the running transaction has changed, by group and number. */
  readonly #slots = new Map<string, Map<number, Amounts>>();

  constructor(database: DatabaseSync) {
    const columns = "cost_usd, held_usd";
    this.#readPeriod = database.prepare(`SELECT from_ms, to_ms, ${columns} FROM group_periods WHERE group_id = ?`);
    this.#writePeriod = database.prepare(
      `INSERT OR REPLACE INTO group_periods (group_id, from_ms, to_ms, ${columns}) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#readSlots = database.prepare(
      `SELECT slot, ${columns} FROM group_spending WHERE group_id = ? AND slot >= ? AND slot < ?`,
    );
    this.#readSlot = database.prepare(`SELECT ${columns} FROM group_spending WHERE group_id = ? AND slot = ?`);
    this.#writeSlot = database.prepare(
      `INSERT OR REPLACE INTO group_spending (group_id, slot, ${columns}) VALUES (?, ?, ?, ?)`,
    );
    this.#nextGroup = database.prepare("SELECT min(group_id) AS id FROM group_spending WHERE group_id > ?");
    this.#readOldSlots = database.prepare(
      `SELECT slot, ${columns} FROM group_spending WHERE group_id = ? AND slot > ? AND slot < ? LIMIT ${maxJoinedSlots}`,
    );
    this.#deleteSlot = database.prepare("DELETE FROM group_spending WHERE group_id = ? AND slot = ?");
  }

  /** Returns the groups that have slots, each when it is asked for. */
  *groupIds(): Generator<string> {
    let id: unknown = "";
    while (typeof (id = this.#nextGroup.get(String(id))?.["id"]) === "string") yield id;
  }

  /**
   * Moves the amounts of the oldest slots of a group to the slot of 1970, which only a span of all time contains. Must be
   * called inside the transaction.
   * @returns the number of removed slots; more may be left
   */
  joinSlots(groupId: string, beforeSlot: number): number {
    const slots = this.#slots.get(groupId) ?? new Map<number, Amounts>();
    this.#slots.set(groupId, slots);
    const rows = this.#readOldSlots.all(groupId, joinedSlot, beforeSlot);
    let joined = slots.get(joinedSlot) ?? toAmounts(this.#readSlot.get(groupId, joinedSlot));
    for (const row of rows) {
      const slot = Number(row["slot"]);
      joined = plus(joined, slots.get(slot) ?? toAmounts(row));
      slots.delete(slot);
      this.#deleteSlot.run(groupId, slot);
    }
    if (rows.length > 0) slots.set(joinedSlot, joined);
    return rows.length;
  }

  /** Returns the committed cost of a group in a span, in US dollars. Must be called outside of the transaction. */
  spentUsd(groupId: string, span: Span): string {
    const kept = this.#keptOf(groupId);
    return (isSame(kept, span) ? kept : this.#sum(groupId, span)).spent.toFixed();
  }

  /** Returns the amounts of a group in a span, as the running transaction has them. */
  amountsOf(groupId: string, span: Span): Amounts {
    const known = this.#periods.get(groupId) ?? this.#keptOf(groupId);
    if (isSame(known, span)) return known;
    const amounts = { ...this.#sum(groupId, span), fromMs: span.fromMs, toMs: span.toMs };
    this.#periods.set(groupId, amounts);
    return amounts;
  }

  /** Adds to the amounts of a group at the start of a request. Negative amounts are taken away. */
  add(groupId: string, startedMs: number, amounts: Amounts): void {
    const slots = this.#slots.get(groupId) ?? new Map<number, Amounts>();
    this.#slots.set(groupId, slots);
    const slot = slotOf(startedMs);
    slots.set(slot, plus(slots.get(slot) ?? toAmounts(this.#readSlot.get(groupId, slot)), amounts));
    const period = this.#periods.get(groupId) ?? this.#keptOf(groupId);
    if (period && startedMs >= period.fromMs && startedMs < period.toMs)
      this.#periods.set(groupId, { ...period, ...plus(period, amounts) });
  }

  /** Writes the changes. Must be called inside the transaction, after its last change. */
  write(): void {
    for (const [groupId, { fromMs, toMs, spent, held }] of this.#periods)
      this.#writePeriod.run(groupId, fromMs, toMs, spent.toFixed(), held.toFixed());
    for (const [groupId, slots] of this.#slots)
      for (const [slot, { spent, held }] of slots) this.#writeSlot.run(groupId, slot, spent.toFixed(), held.toFixed());
  }

  /** Must be called after each transaction, even if it was rolled back. */
  forget(): void {
    this.#periods.clear();
    this.#slots.clear();
  }

  #keptOf(groupId: string): PeriodAmounts | undefined {
    const row = this.#readPeriod.get(groupId);
    return row && { fromMs: Number(row["from_ms"]), toMs: Number(row["to_ms"]), ...toAmounts(row) };
  }

  #sum(groupId: string, { fromMs, toMs }: Span): Amounts {
    const changed = this.#slots.get(groupId);
    const [from, to] = [slotOf(fromMs), slotOf(toMs)];
    let sum = nothing;
    for (const row of this.#readSlots.iterate(groupId, from, to))
      if (!changed?.has(Number(row["slot"]))) sum = plus(sum, toAmounts(row));
    for (const [slot, amounts] of changed ?? []) if (slot >= from && slot < to) sum = plus(sum, amounts);
    return sum;
  }
}

/** The slot of 1970. */
const joinedSlot = 0;
/** Maximum number of slots that are joined in one transaction. */
const maxJoinedSlots = 500;

const isSame = (period: PeriodAmounts | undefined, { fromMs, toMs }: Span): period is PeriodAmounts =>
  period?.fromMs === fromMs && period.toMs === toMs;

const toAmounts = (row: Readonly<Record<string, unknown>> | undefined): Amounts =>
  row ? { spent: new Big(String(row["cost_usd"])), held: new Big(String(row["held_usd"])) } : nothing;
