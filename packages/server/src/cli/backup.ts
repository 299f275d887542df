import { rmSync, writeFileSync } from "node:fs";
import { backup } from "node:sqlite";
import type { Command } from "commander";
import { openDatabase } from "../state/database.ts";
import { addDataFlags, dataSettingsOf } from "./settings.ts";

export function addBackupCommand(program: Command): void {
  addDataFlags(
    program
      .command("backup")
      .description("copy keys and ledger to a file, also while a server runs")
      .argument("<file>"),
  ).action(async (file: string, _flags, command: Command) => {
    using database = openDatabase(dataSettingsOf(command).dataDir);
    claim(file);
    try {
      const pages = await backup(database, file);
      process.stdout.write(
        `${file}: ${pages} pages. To restore it, stop the server and put it in the place of parley.db.\n`,
      );
    } catch (error) {
      rmSync(file);
      throw error;
    }
  });
}

/** An empty file that only its owner may read: no backup is overwritten, and nobody reads this one while it grows. */
function claim(file: string): void {
  try {
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new Error(`${file} exists already. Name another file, so that no backup is overwritten.`, { cause: error });
    throw error;
  }
}
