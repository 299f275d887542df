import { closeSync, rmSync } from "node:fs";
import { backup } from "node:sqlite";
import { assertDataFolder, openDatabase } from "./database.ts";
import { createPrivateFile } from "./private-file.ts";

/**
 * Copies the whole database in one step. A copy in several steps starts again whenever another connection writes between
 * two of them.
 */
const allPages = 2 ** 31 - 1;

/**
 * Copies keys and ledger to a new file that only its owner may read. A server may run meanwhile. An existing file is never
 * overwritten, and a failed copy is removed.
 * @returns the number of copied database pages
 * @throws {StateError} {Error} with a message for the operator
 */
export async function backUp(dataDir: string, file: string): Promise<number> {
  assertDataFolder(dataDir);
  using database = openDatabase(dataDir);
  closeSync(createPrivateFile(file));
  try {
    return await backup(database, file, { rate: allPages });
  } catch (error) {
    rmSync(file);
    throw error;
  }
}
