import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "./transaction.ts";

interface Write {
  readonly change: () => void;
  readonly onWritten: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** What belongs to a transaction beside the changes in it. */
export interface GroupHooks {
  /** Its last change: what the others have in common. */
  readonly finish?: () => void;
  /** After it, also where it was rolled back. */
  readonly onEnd?: (isCommitted: boolean) => void;
}

/** Under load, a transaction holds the changes of so many milliseconds. */
const groupMs = 2;

/**
 * Commits what one turn of the event loop writes in one transaction: a commit costs more than most changes. Under load, one
 * transaction holds the changes of several turns.
 */
export class WriteGroup implements Disposable {
  readonly #database: DatabaseSync;
  readonly #hooks: GroupHooks;
  #waiting: Write[] = [];
  /** Cancels the commit that is due. */
  #cancel: (() => void) | undefined;
  #committedMs = -Infinity;
  #isBusy = false;

  constructor(database: DatabaseSync, hooks: GroupHooks) {
    this.#database = database;
    this.#hooks = hooks;
  }

  /** Resolves when the change is committed. Rejects when it fails by itself, whatever becomes of the others. */
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

  /** Commits what waits. To be called before the database is closed. */
  [Symbol.dispose](): void {
    if (!this.#cancel) return;
    this.#cancel();
    this.#commit();
  }
}
