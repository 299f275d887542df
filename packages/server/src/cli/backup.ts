import type { Command } from "commander";
import { backUp } from "../state/back-up.ts";
import { dataFlags, typed } from "./settings.ts";

export function addBackupCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("backup")
        .description("copy keys and ledger to a file; works while a server runs")
        .argument("<file>"),
    )
    .action(async (file: string, _flags, command: Command) => {
      const pages = await backUp(dataFlags.configOf(command).dataDir, file);
      process.stdout.write(
        `${file}: ${pages} pages. To restore it, stop the server and run: ${typed(`restore ${file}`)}\n`,
      );
    });
}
