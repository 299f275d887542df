import { closeSync, fsyncSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { UsageLedger } from "../accounts/ledger/usage-ledger.ts";
import { openExistingStateOf } from "../state/open-state.ts";
import { createPrivateFile } from "../state/private-file.ts";
import { readPast } from "./read-argument.ts";
import { requestColumns, toCells, toRequestRow } from "./request-row.ts";
import { keyNames } from "./select-entries.ts";
import { dataFlags } from "./settings.ts";
import { toCsv, toCsvLine } from "./table.ts";

interface PruneFlags {
  readonly before: number;
  readonly export?: string;
}

export function addPruneCommand(usage: Command): void {
  dataFlags
    .addTo(usage.command("prune").description("write old requests to a CSV file, then remove them from the ledger"))
    .requiredOption(
      "--before <when>",
      "requests that ended before a date (2026-01-01, UTC) or a time ago (365d)",
      readPast,
    )
    .option("--export <file>", "file for the removed requests (default: a file in the data folder, named by the date)")
    .action(async (flags: PruneFlags, command: Command) => {
      // Requests that end from now on are not in the export, so they must not be removed.
      if (flags.before > Date.now()) command.error("error: --before must be in the past");
      const config = dataFlags.configOf(command);
      await using state = await openExistingStateOf(config);
      const day = new Date(flags.before).toISOString().slice(0, 10);
      const file = flags.export ?? join(config.dataDir, `requests-before-${day}.csv`);
      const exported = await exportEntries(state.ledger, await keyNames(state.keys), flags.before, file);
      process.stdout.write(`${exported} requests that ended before ${day} are in ${file}.\n`);
      const removed = await state.ledger.prune(flags.before);
      process.stdout.write(
        `${removed} were removed from the ledger. The spending of their keys still counts. The database keeps its size and fills the space again.\n`,
      );
    });
}

/** Exports entries to a CSV file, which is on the disk when the promise resolves. @returns the number of entries */
async function exportEntries(
  ledger: UsageLedger,
  names: ReadonlyMap<string, string>,
  endedBeforeMs: number,
  file: string,
): Promise<number> {
  const descriptor = createPrivateFile(file);
  try {
    let count = 0;
    writeSync(descriptor, toCsv(requestColumns, []));
    for await (const entry of ledger.entries({ endedBeforeMs })) {
      writeSync(descriptor, toCsvLine(toCells(toRequestRow(entry, names), requestColumns)));
      count += 1;
    }
    fsyncSync(descriptor);
    return count;
  } finally {
    closeSync(descriptor);
  }
}
