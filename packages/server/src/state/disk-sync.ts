import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);

/**
 * Milliseconds between a commit and its sync. A power cut may lose at most 50 ms of entries, so the disk has 25 ms for the
 * sync itself.
 */
const everyMs = 25;

/**
 * Syncs SQLite's write-ahead log to the disk, outside of the event loop. One sync covers all commits since the last one. A
 * commit survives a crash of the process at once, and a power cut after the sync.
 */
export class DiskSync implements Disposable {
  readonly #log: string;
  /**
   * The descriptor of the log. It stays open, so a sync does not fail for lack of descriptors. SQLite keeps the log file
   * while the database is open.
   */
  #descriptor: number | undefined;
  /** Defined while a sync is due or running. */
  #timer: NodeJS.Timeout | undefined;
  #isNew = false;
  #failure: unknown;

  constructor(database: DatabaseSync) {
    this.#log = `${database.location()}-wal`;
  }

  /** Schedules a sync of a new commit. */
  noteCommit(): void {
    this.#isNew = true;
    this.#timer ??= setTimeout(() => void this.#syncInTime(), everyMs).unref();
  }

  /** @throws {Error} when the last sync failed */
  assertSound(): void {
    if (this.#failure !== undefined)
      throw new Error("what was written did not reach the disk", { cause: this.#failure });
  }

  /** Syncs now. Rejects when it fails. */
  async flush(): Promise<void> {
    await this.#sync();
    this.assertSound();
  }

  async #syncInTime(): Promise<void> {
    await this.#sync();
    this.#timer = undefined;
    // A failed sync is retried by `flush`, which is called until the ledger can be written.
    if (this.#isNew && this.#failure === undefined) this.noteCommit();
  }

  async #sync(): Promise<void> {
    this.#isNew = false;
    try {
      await datasync(this.#open());
      this.#failure = undefined;
    } catch (error) {
      this.#isNew = true;
      this.#failure = error;
    }
  }

  #open(): number {
    return (this.#descriptor ??= openSync(this.#log, "r+"));
  }

  /** Must be called before the database is closed. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#isNew && this.#failure === undefined) fdatasyncSync(this.#open());
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
