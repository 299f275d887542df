import { closeSync, rmSync } from "node:fs";
import { backup } from "node:sqlite";
import { assertDataFolder, openDatabase } from "./database.ts";
import { createPrivateFile } from "./private-file.ts";

/** The whole copy in one step. A copy in several steps begins again whenever another connection writes between two. */
const allPages = 2 ** 31 - 1;

/**
 * Copies keys and ledger to a file that only its owner may read, also while a server runs. A file that exists is not
 * overwritten, and a copy that fails leaves none.
 * @returns how many pages were copied
 * @throws {StateError} {Error} with a sentence for the operator
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
