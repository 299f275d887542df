import { closeSync, fsyncSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Perform } from "../accounts/manage/perform.ts";
import { createPrivateFile, makePrivateFolder } from "../state/private-file.ts";
import { openManage, readPages } from "./manage.ts";
import { readPast } from "./read-argument.ts";
import { requestColumns, toCells } from "./request-row.ts";
import { manageFlags } from "./settings.ts";
import { toCsv, toCsvLine } from "./table.ts";

interface PruneFlags {
  readonly before: number;
  readonly export?: string;
}

export function addPruneCommand(usage: Command): void {
  manageFlags
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
      const config = manageFlags.configOf(command);
      await using manage = await openManage(config);
      const day = new Date(flags.before).toISOString().slice(0, 10);
      const file = flags.export ?? join(config.dataDir, `requests-before-${day}.csv`);
      // Over HTTP, this machine may have no data folder.
      if (flags.export === undefined) makePrivateFolder(config.dataDir);
      const before = new Date(flags.before).toISOString();
      const exported = await exportRequests(manage.perform, before, file);
      process.stdout.write(`${exported} requests that ended before ${day} are in ${file}.\n`);
      const { deleted } = await manage.perform("pruneUsage", { id: undefined, query: {}, body: { before } });
      process.stdout.write(
        `${deleted} were removed from the ledger. The spending of their keys still counts. The database keeps its size and fills the space again.\n`,
      );
    });
}

/** Exports requests to a CSV file, which is on the disk when the promise resolves. @returns the number of requests */
async function exportRequests(perform: Perform, endedBefore: string, file: string): Promise<number> {
  const descriptor = createPrivateFile(file);
  try {
    let count = 0;
    writeSync(descriptor, toCsv(requestColumns, []));
    const query = { ended_before: endedBefore, order: "oldest" } as const;
    for await (const page of readPages(perform, "listRequests", query)) {
      for (const row of page) writeSync(descriptor, toCsvLine(toCells(row, requestColumns)));
      count += page.length;
    }
    fsyncSync(descriptor);
    return count;
  } finally {
    closeSync(descriptor);
  }
}
