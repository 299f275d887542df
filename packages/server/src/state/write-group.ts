import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "./transaction.ts";

interface Write {
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
    this.#waiting.push({ change, onWritten, onFailed });
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
      if (writes.length === 1) writes[0]?.onFailed(error);
      else for (const write of writes) this.#writeAlone(write);
    }
  }

  #writeAlone(write: Write): void {
    try {
      this.#write([write]);
    } catch (error) {
      write.onFailed(error);
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
    this.#commit();
  }
}
