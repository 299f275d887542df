import type { EngineUsage } from "@parley/inference";
import type { Pricing } from "./price.ts";

/** How an admitted request ended: completely, cancelled by its client, by an error, or with the server. */
export type Outcome = "complete" | "cancelled" | "failed" | "abandoned";

/** What opens an entry: an admitted request before it runs. */
export interface OpenRecord {
  /** The request's id, unique. */
  readonly id: string;
  readonly keyId: string;
  /** The model's id. */
  readonly model: string;
  readonly isStream: boolean;
  readonly startedMs: number;
  /** The prices in force when it started, kept with the entry. */
  readonly pricing: Pricing;
}

/** What a running request has used so far. */
export interface Checkpoint {
  readonly id: string;
  readonly usage: EngineUsage;
}

/** What closes an entry. */
export interface CloseRecord extends Checkpoint {
  /** Whose entry it is. */
  readonly keyId: string;
  readonly outcome: Outcome;
  /** The code of the error that ended it, from the contract's catalogue. */
  readonly errorCode: string | undefined;
  /** US dollars, a decimal string, exact. */
  readonly costUsd: string;
  readonly endedMs: number;
}

/** An entry as it is stored. While it is open its usage is that of the last checkpoint, and its cost "0". */
export interface LedgerEntry extends OpenRecord {
  readonly usage: EngineUsage;
  readonly costUsd: string;
  readonly outcome: Outcome | "open";
  readonly errorCode: string | undefined;
  readonly endedMs: number | undefined;
}

/** Which entries are meant: those that fit all that is given. */
export interface EntrySelection {
  /** Started then or later. */
  readonly sinceMs?: number | undefined;
  /** Started earlier. */
  readonly untilMs?: number | undefined;
  /** Closed, and ended earlier. */
  readonly endedBeforeMs?: number | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly outcome?: LedgerEntry["outcome"] | undefined;
  readonly errorCode?: string | undefined;
}

/**
 * One entry per admitted request: opened at admission, brought up to date while the request runs, closed exactly once.
 *
 * Every method is atomic. What has resolved is there after a crash of the process, and 50 ms later after one of the machine. A method rejects when the store
 * cannot be read or written, with an error of its own kind; then nothing has changed and the call may be repeated.
 * Times are milliseconds since 1970, tokens are counts, money is US dollars as exact decimal strings.
 *
 * `usageLedgerContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface UsageLedger {
  /** Rejects when the entry cannot be written, or its id is taken: then the request must not run. */
  open(record: OpenRecord): Promise<void>;
  /** Replaces the usage of open entries, of all or of none. An entry that is closed or unknown is passed over. */
  checkpoint(checkpoints: readonly Checkpoint[]): Promise<void>;
  /**
   * Closes an entry and adds its cost to what its key has spent, both or neither. Only the first call counts: an entry
   * that is closed or unknown is passed over, so that a call whose answer was lost may be repeated.
   */
  close(record: CloseRecord): Promise<void>;
  /**
   * The open entries whose server is dead, never those of a live one. How a server is known to be dead is up to the
   * implementation: one data folder has one server at a time; a database of many servers needs a lease that each renews.
   */
  abandoned(): Promise<LedgerEntry[]>;
  /**
   * What a key has spent with closed entries; "0" for a key that has none. It is kept beside the entries: what is pruned
   * stays spent.
   * @param month of the entries' ends, in UTC, such as `2026-11`; undefined: ever
   */
  spentUsd(keyId: string, month?: string): Promise<string>;
  find(id: string): Promise<LedgerEntry | undefined>;
  /** The entries that are selected, by the time of their start, then by id. */
  entries(selection?: EntrySelection, order?: "oldest first" | "newest first"): AsyncIterable<LedgerEntry>;
  /**
   * Removes closed entries that ended before a time in the past, and nothing else: what their keys have spent stays. A call
   * that fails may have removed some of them.
   * @returns how many
   */
  prune(endedBeforeMs: number): Promise<number>;
  /** Rejects when nothing can be written at the moment. Leaves no trace. */
  assertWritable(): Promise<void>;
}
