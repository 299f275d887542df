import type { Command } from "commander";
import { Option } from "commander";
import type { LedgerEntry } from "../accounts/ledger/usage-ledger.ts";
import { openExistingStateOf } from "../state/open-state.ts";
import { readWhole } from "./read-argument.ts";
import { describeRequest, requestColumns, tableColumns, toRequestRow } from "./request-row.ts";
import type { RequestRow } from "./request-row.ts";
import { formatTime } from "./format-time.ts";
import { addSelectionFlags, keyNames, toSelection } from "./select-entries.ts";
import type { SelectionFlags } from "./select-entries.ts";
import { dataFlags, modelFlags } from "./settings.ts";
import { addFormatFlags, toJson, toRows } from "./table.ts";
import type { Format } from "./table.ts";

interface RequestsFlags extends SelectionFlags {
  readonly outcome?: LedgerEntry["outcome"];
  readonly error?: string;
  readonly limit: number;
  readonly format: Format;
}

const outcomes: readonly LedgerEntry["outcome"][] = ["open", "complete", "cancelled", "failed", "abandoned"];

export function addRequestsCommand(program: Command): void {
  const list = program.command("requests").description("list requests of the ledger, newest first");
  addFormatFlags(addSelectionFlags(modelFlags.addTo(list)))
    .addOption(new Option("--outcome <outcome>", "only those that ended in this way").choices(outcomes))
    .option("--error <code>", "only those with this error code")
    .option("--limit <n>", "maximum number of requests", readWhole, 50)
    .action(async (flags: RequestsFlags) => {
      const config = modelFlags.configOf(list);
      await using state = await openExistingStateOf(config);
      const names = await keyNames(state.keys);
      const selection = { ...toSelection(flags, config, names), outcome: flags.outcome, errorCode: flags.error };
      const rows: RequestRow[] = [];
      for await (const entry of state.ledger.entries(selection, "newest first")) {
        rows.push(toRequestRow(entry, names));
        if (rows.length === flags.limit) break;
      }
      process.stdout.write(print(rows, flags.format));
    });
}

export function addRequestCommand(program: Command): void {
  dataFlags
    .addTo(program.command("request").description("show one request of the ledger"))
    .argument("<id>", "value of the header x-request-id of its answer")
    .option("--json", "as JSON")
    .action(async (id: string, flags: { readonly json?: boolean }, command: Command) => {
      await using state = await openExistingStateOf(dataFlags.configOf(command));
      const entry = await state.ledger.find(id);
      if (!entry) throw new Error(`The ledger has no request ${id}. Only admitted requests are recorded.`);
      const row = toRequestRow(entry, await keyNames(state.keys));
      process.stdout.write(flags.json === true ? toJson(row) : describeRequest(row));
    });
}

function print(rows: readonly RequestRow[], format: Format): string {
  if (format !== "table") return toRows(requestColumns, rows, format);
  return toRows(
    tableColumns,
    rows.map((row) => ({ ...row, started: formatTime(Date.parse(row.started)) })),
    format,
  );
}
