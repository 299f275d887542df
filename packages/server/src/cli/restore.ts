import type { Command } from "commander";
import { restore } from "../state/restore.ts";
import { dataFlags } from "./settings.ts";

export function addRestoreCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("restore")
        .description("replace keys and ledger by a backup; no server may run")
        .argument("<file>", 'a file that "parley backup" has written'),
    )
    .action(async (file: string, _flags, command: Command) => {
      const { keys, entries, replaced } = await restore(dataFlags.configOf(command).dataDir, file, Date.now());
      process.stdout.write(`Restored ${file}: ${keys} keys and ${entries} requests.\n`);
      if (replaced !== undefined) {
        process.stdout.write(`What was there before is in ${replaced}. Delete that folder when nobody needs it.\n`);
      }
    });
}
