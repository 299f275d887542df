import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "./transaction.ts";

interface Write {
  readonly change: () => void;
  readonly onWritten: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** Commits what one turn of the event loop writes in one transaction: a commit costs more than most changes. */
export class WriteGroup implements Disposable {
  readonly #database: DatabaseSync;
  readonly #onCommit: () => void;
  #waiting: Write[] = [];
  #immediate: NodeJS.Immediate | undefined;

  /** @param onCommit called after each commit */
  constructor(database: DatabaseSync, onCommit: () => void) {
    this.#database = database;
    this.#onCommit = onCommit;
  }

  /** Resolves when the change is committed. Rejects when it fails by itself, whatever becomes of the others. */
  add(change: () => void): Promise<void> {
    const { promise, resolve: onWritten, reject: onFailed } = Promise.withResolvers<void>();
    this.#waiting.push({ change, onWritten, onFailed });
    this.#immediate ??= setImmediate(() => this.#commit());
    return promise;
  }

  #commit(): void {
    this.#immediate = undefined;
    const writes = this.#waiting;
    this.#waiting = [];
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
    inTransaction(this.#database, () => {
      for (const { change } of writes) change();
    });
    this.#onCommit();
    for (const { onWritten } of writes) onWritten();
  }

  /** Commits what waits. To be called before the database is closed. */
  [Symbol.dispose](): void {
    if (this.#immediate === undefined) return;
    clearImmediate(this.#immediate);
    this.#commit();
  }
}
