import type { DatabaseSync } from "node:sqlite";
import { blocking, inTransaction, isLocked, lockedRetryMs, maxLockedMs } from "./transaction.ts";

interface Write {
  /** The time by `performance.now()` until which it waits while another process has locked the database. */
  readonly untilMs: number;
  readonly change: () => void;
  readonly onWritten: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** Callbacks for each transaction. */
export interface GroupHooks {
  /** Runs inside the transaction, after all changes. */
  readonly finish?: () => void;
  /** Runs after the transaction, even if it was rolled back. */
  readonly onEnd?: (isCommitted: boolean) => void;
}

/** Under load, a transaction contains the changes of this number of milliseconds. */
const groupMs = 2;

/**
 * Groups the changes of one round of the event loop into one transaction, because a commit takes longer than most changes.
 * Under load, a transaction contains the changes of several rounds.
 */
export class WriteGroup implements Disposable {
  readonly #database: DatabaseSync;
  readonly #hooks: GroupHooks;
  #waiting: Write[] = [];
  /** Cancels the scheduled commit. */
  #cancel: (() => void) | undefined;
  #committedMs = -Infinity;
  #isBusy = false;

  constructor(database: DatabaseSync, hooks: GroupHooks) {
    this.#database = database;
    this.#hooks = hooks;
  }

  /** Resolves when the change is committed. Rejects when this change fails, even if the others succeed. */
  add(change: () => void): Promise<void> {
    const { promise, resolve: onWritten, reject: onFailed } = Promise.withResolvers<void>();
    this.#waiting.push({ change, onWritten, onFailed, untilMs: performance.now() + maxLockedMs });
    this.#cancel ??= this.#commitSoon();
    return promise;
  }

  #commitSoon(): () => void {
    const waitMs = this.#isBusy ? this.#committedMs + groupMs - performance.now() : 0;
    if (waitMs <= 0) {
      const immediate = setImmediate(() => this.#commit());
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(() => this.#commit(), waitMs);
    return () => clearTimeout(timer);
  }

  #commit(): void {
    this.#cancel = undefined;
    const writes = this.#waiting;
    this.#waiting = [];
    this.#isBusy = writes.length > 1;
    this.#committedMs = performance.now();
    try {
      this.#write(writes);
    } catch (error) {
      if (isLocked(error)) this.#tryAgain(writes, error);
      else if (writes.length === 1) writes[0]?.onFailed(error);
      else for (const write of writes) this.#writeAlone(write);
    }
  }

  /** Tries again later, except for the changes that have waited long enough. */
  #tryAgain(writes: readonly Write[], error: unknown): void {
    const nowMs = performance.now();
    for (const write of writes)
      if (write.untilMs > nowMs) this.#waiting.push(write);
      else write.onFailed(error);
    if (this.#waiting.length === 0 || this.#cancel) return;
    const timer = setTimeout(() => this.#commit(), lockedRetryMs);
    this.#cancel = () => clearTimeout(timer);
  }

  #writeAlone(write: Write): void {
    try {
      this.#write([write]);
    } catch (error) {
      if (isLocked(error)) this.#tryAgain([write], error);
      else write.onFailed(error);
    }
  }

  #write(writes: readonly Write[]): void {
    let isCommitted = false;
    try {
      inTransaction(this.#database, () => {
        for (const { change } of writes) change();
        this.#hooks.finish?.();
      });
      isCommitted = true;
    } finally {
      this.#hooks.onEnd?.(isCommitted);
    }
    for (const { onWritten } of writes) onWritten();
  }

  /** Commits the waiting changes. Must be called before the database is closed. */
  [Symbol.dispose](): void {
    if (!this.#cancel) return;
    this.#cancel();
    blocking(this.#database, () => this.#commit());
    this.#cancel?.();
  }
}
