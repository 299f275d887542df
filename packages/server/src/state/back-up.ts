import { rmSync, writeFileSync } from "node:fs";
import { backup } from "node:sqlite";
import { assertDataFolder, openDatabase } from "./database.ts";

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
  claimFile(file);
  try {
    return await backup(database, file, { rate: allPages });
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

/** An empty file that only its owner may read, so that nobody else reads the copy while it grows. */
export function claimFile(file: string): void {
  try {
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new Error(`${file} exists already. Name another file, so that no backup is overwritten.`, { cause: error });
    throw error;
  }
}
