import type { EngineUsage } from "@parley/inference";
import type { CallerGroup } from "../keys/caller.ts";
import type { BudgetRaise } from "../money/budget-raise.ts";
import type { CostBound } from "../money/budgets.ts";
import type { Span } from "../money/period.ts";
import type { Pricing } from "../money/price.ts";
import type { Grouping, UsageSum } from "./sum-usage.ts";

/** How an admitted request ended. `cancelled`: its client disconnected. `abandoned`: its server died. */
export type Outcome = "complete" | "cancelled" | "failed" | "abandoned";

/** The fields of an entry when it is opened, before the request runs. */
export interface OpenRecord {
  /** The request's id, unique. */
  readonly id: string;
  readonly keyId: string;
  /** The model's id. */
  readonly model: string;
  readonly isStream: boolean;
  readonly startedMs: number;
  /** The prices at the time of the request. */
  readonly pricing: Pricing;
  /** The key's group at the time of the request, then that group's parent; absent: none. */
  readonly groupIds?: readonly string[] | undefined;
}

/** The budget of a group in the period in which a request started. Both ends are multiples of 15 minutes. */
export interface GroupBudget extends CallerGroup, Span {}

/** The budgets of a key in US dollars, as decimal strings, and those of its groups. At least one is defined. */
export interface KeyBudgets {
  readonly budgetUsd: string | undefined;
  /** For each calendar month of UTC. */
  readonly monthlyBudgetUsd: string | undefined;
  /** The raise that both budgets include. The ledger does not read it. */
  readonly budgetRaise?: BudgetRaise | undefined;
  /** One for each of the entry's `groupIds`, in their order, also for a group without a budget. */
  readonly groups?: readonly GroupBudget[] | undefined;
}

/** The maximum cost of a request, to be held against the budgets of its key and groups. */
export interface HoldRequest {
  readonly budgets: KeyBudgets;
  readonly bound: CostBound;
}

/** The money that an open entry holds. */
export interface Hold {
  /** Number of completion tokens of each choice that the held money pays for, 1 or more. */
  readonly maxTokens: number;
  readonly heldUsd: string;
}

/** The reason why nothing was held. Both amounts are US dollars, as decimal strings. */
export interface BudgetShortage {
  /** The rest of the tightest budget: the budget minus the cost of ended requests and `heldUsd`. It may be negative. */
  readonly restUsd: string;
  /** The maximum cost of all requests that have not ended, of the key or of the group in the period. */
  readonly heldUsd: string;
  /** The group whose budget is the tightest; absent: it is a budget of the key. */
  readonly groupId?: string;
  /** True if the tightest is the key's budget for each month. Of equal rests, the key's total counts, then this one. */
  readonly isMonthly?: boolean;
}

/** The usage of a running request so far. */
export interface Checkpoint {
  readonly id: string;
  readonly usage: EngineUsage;
}

/** The usage of an ended request, its outcome and its cost. */
export interface FinalUsage {
  readonly usage: EngineUsage;
  readonly outcome: Outcome;
  /** The code of the error that ended it, from the contract's catalogue. */
  readonly errorCode: string | undefined;
  /** US dollars, a decimal string, exact. */
  readonly costUsd: string;
}

/** The fields of an entry when it is closed. */
export interface CloseRecord extends FinalUsage {
  readonly id: string;
  /** The key of the entry. */
  readonly keyId: string;
  /** The groups of the entry. They only say which closes may share a transaction: the groups that were stored are charged. */
  readonly groupIds?: readonly string[] | undefined;
  readonly endedMs: number;
}

/** A stored entry. While it is open, its usage is that of the last checkpoint, and its cost is "0". */
export interface LedgerEntry extends OpenRecord {
  readonly usage: EngineUsage;
  readonly costUsd: string;
  readonly outcome: Outcome | "open";
  readonly errorCode: string | undefined;
  readonly endedMs: number | undefined;
}

/** Selects the entries that match all given members. */
export interface EntrySelection {
  /** Started at this time or later. */
  readonly sinceMs?: number | undefined;
  /** Started before this time. */
  readonly untilMs?: number | undefined;
  /** Closed, and ended before this time. */
  readonly endedBeforeMs?: number | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly outcome?: LedgerEntry["outcome"] | undefined;
  readonly errorCode?: string | undefined;
  /** The key's own group at the time of the request. */
  readonly groupId?: string | undefined;
  /** The key's own group at the time of the request, or that group's parent. */
  readonly withinGroupId?: string | undefined;
}

/**
 * The ledger of all admitted requests. It has one entry per request, which is opened at admission, updated while the
 * request runs, and closed once.
 *
 * Every method is atomic. Calls that run at the same time take effect in any order. A change that has resolved survives a
 * crash of the process, and after 50 ms also a crash of the machine. A method rejects when the store cannot be read or
 * written, with an error that depends on the store. Then nothing has changed, and the call may be repeated. Times are
 * milliseconds since 1970, tokens are counts, money is US dollars as exact decimal strings.
 *
 * `usageLedgerContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface UsageLedger {
  /**
   * Opens an entry, and holds the maximum cost of its request until the entry is closed or withdrawn: both, or nothing. A
   * key's closed entries and holds together never pass its budgets, and neither do those of a group, however many servers open
   * entries at the same time. The month of a monthly budget is that of `startedMs`. An entry counts in the period of a group
   * in which it started, whenever it ends. Rejects when the entry cannot be written or its id exists already:
   * then the request must not run.
   * @param hold undefined for a key without a budget: nothing is held
   * @returns the shortage if the budgets do not pay for the request; then there is no entry
   */
  open(record: OpenRecord, hold?: HoldRequest): Promise<Hold | BudgetShortage | undefined>;
  /**
   * Removes an open entry whose request never ran, and releases its hold. An entry that is closed or unknown is skipped, so a
   * call whose answer was lost can be repeated.
   */
  withdraw(id: string): Promise<void>;
  /** Replaces the usage of open entries, of all or of none. Entries that are closed or unknown are skipped. */
  checkpoint(checkpoints: readonly Checkpoint[]): Promise<void>;
  /**
   * Closes an entry, adds its cost to the amounts that its key and groups have spent, and releases its hold: all or nothing. Only the
   * first call counts: an entry that is closed or unknown is skipped, so a call whose answer was lost can be repeated.
   */
  close(record: CloseRecord): Promise<void>;
  /**
   * Returns the open entries of dead servers, never those of a live one. The implementation decides how to detect a dead
   * server: a data folder has one server at a time, but a database that servers share needs a lease that each of them
   * renews.
   */
  abandoned(): Promise<LedgerEntry[]>;
  /**
   * Returns the total cost of the closed entries of a key; "0" if it has none. Pruning entries does not lower it.
   * @param month counts only entries that ended in this month, in UTC, such as `2026-11`; undefined: all
   */
  spentUsd(keyId: string, month?: string): Promise<string>;
  /** Returns the same of all keys that have closed entries, by their ids. */
  spentByKey(month?: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns the total cost of the closed entries of a group, and of the groups in it, that started in a span; "0" if there are
   * none. Pruning entries does not lower it. Entries count for the groups that their key had when they were opened.
   * @param span its ends are multiples of 15 minutes
   */
  groupSpentUsd(groupId: string, span: Span): Promise<string>;
  /**
   * Joins the amounts of each group before a time, which are kept for each quarter of an hour, into one. Afterwards no span
   * may begin before that time, except for one that begins at 0. Entries may be opened and closed meanwhile.
   * @returns the number of removed amounts
   */
  joinOldSpending(beforeMs: number): Promise<number>;
  find(id: string): Promise<LedgerEntry | undefined>;
  /** Yields the selected entries, sorted by start time, then by id. */
  entries(selection?: EntrySelection, order?: "oldest first" | "newest first"): AsyncIterable<LedgerEntry>;
  /** Adds up the selected entries by group, exactly. @returns the sums, sorted by group */
  sum(selection: EntrySelection, by: Grouping): Promise<UsageSum[]>;
  /**
   * Removes the closed entries that ended before a time in the past. The amounts that their keys have spent stay. A call
   * that fails may have removed some entries.
   * @returns the number of removed entries
   */
  prune(endedBeforeMs: number): Promise<number>;
  /** Rejects when the ledger cannot be written now. Changes nothing. */
  assertWritable(): Promise<void>;
}

/** The methods of a ledger that requests need. */
export type RequestLedger = Pick<
  UsageLedger,
  "open" | "withdraw" | "checkpoint" | "close" | "spentUsd" | "groupSpentUsd" | "find" | "assertWritable"
>;
