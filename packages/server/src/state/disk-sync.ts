import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);

/** A power cut may lose 50 ms of entries. Half of that is spent waiting, the other half is left to the disk. */
const everyMs = 25;

/**
 * Brings what was committed to the disk, in groups and beside the event loop. What SQLite has written to its log outlives
 * the process at once, and a power cut once the log was synced.
 */
export class DiskSync implements Disposable {
  readonly #log: string;
  /** Of the log, which SQLite keeps for as long as the database is open. It stays open, so that a lack of descriptors stops no sync. */
  #descriptor: number | undefined;
  /** While a sync is due or under way. */
  #timer: NodeJS.Timeout | undefined;
  #isNew = false;
  #failure: unknown;

  constructor(database: DatabaseSync) {
    this.#log = `${database.location()}-wal`;
  }

  /** Something was committed. */
  noteCommit(): void {
    this.#isNew = true;
    this.#timer ??= setTimeout(() => void this.#syncInTime(), everyMs).unref();
  }

  /** @throws {Error} when the last sync has failed */
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
    // A failed sync is tried again by `flush`, which is called until the ledger can be written.
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

  /** To be called before the database is closed. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#isNew && this.#failure === undefined) fdatasyncSync(this.#open());
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
