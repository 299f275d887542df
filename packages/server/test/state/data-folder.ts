import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../src/state/database.ts";

/** A data folder that any number of connections may open. Disposing closes them and deletes the folder. */
export class DataFolder implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "parley-state-"));
  readonly #open = new Set<DatabaseSync>();

  open(): DatabaseSync {
    const database = openDatabase(this.path);
    this.#open.add(database);
    return database;
  }

  close(database: DatabaseSync): void {
    this.#open.delete(database);
    database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const database of this.#open) database.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}
