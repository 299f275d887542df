import type { Command } from "commander";
import { backUp, restore } from "../state/backup.ts";
import type { Config } from "../config/read-config.ts";
import { StateError } from "../state/state-error.ts";
import { typed } from "../state/typed.ts";
import { dataFlags } from "./settings.ts";

export function addBackupCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("backup")
        .description("copy keys and ledger to a file; works while a server runs")
        .argument("<file>"),
    )
    .action(async (file: string, _flags, command: Command) => {
      const pages = await backUp(localFolder(dataFlags.configOf(command)), file);
      process.stdout.write(
        `${file}: ${pages} pages. To restore it, stop the server and run: ${typed(`restore ${file}`)}\n`,
      );
    });
}

export function addRestoreCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("restore")
        .description("replace keys and ledger by a backup; no server may run")
        .argument("<file>", 'a file that "parley backup" has written'),
    )
    .action(async (file: string, _flags, command: Command) => {
      const { keys, entries, replaced } = await restore(localFolder(dataFlags.configOf(command)), file, Date.now());
      process.stdout.write(`Restored ${file}: ${keys} keys and ${entries} requests.\n`);
      if (replaced !== undefined) {
        process.stdout.write(`The replaced files are in ${replaced}. Delete that folder when you no longer need it.\n`);
      }
    });
}

/** Returns the data folder. @throws {StateError} when the keys and the ledger are not in it */
function localFolder({ dataDir, databaseUrl }: Config): string {
  if (databaseUrl === undefined) return dataDir;
  throw new StateError(
    "Keys and ledger are in PostgreSQL (PARLEY_DATABASE_URL). Use its own tools, such as pg_dump --schema=parley.",
  );
}
