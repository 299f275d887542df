import type { Command } from "commander";
import { Option } from "commander";
import { listAll, openManage } from "./manage.ts";
import { readWhole } from "./read-argument.ts";
import { describeRequest, requestColumns, tableColumns } from "./request-row.ts";
import type { RequestRow } from "./request-row.ts";
import { formatTime } from "./format-time.ts";
import { addSelectionFlags, toQuery } from "./select-entries.ts";
import type { SelectionFlags } from "./select-entries.ts";
import { manageFlags, manageModelFlags } from "./settings.ts";
import { addFormatFlags, toJson, toRows } from "./table.ts";
import type { Format } from "./table.ts";

interface RequestsFlags extends SelectionFlags {
  readonly outcome?: RequestRow["outcome"];
  readonly error?: string;
  readonly limit: number;
  readonly format: Format;
}

const outcomes: readonly RequestRow["outcome"][] = ["open", "complete", "cancelled", "failed", "abandoned"];

export function addRequestsCommand(program: Command): void {
  const list = program.command("requests").description("list requests of the ledger, newest first");
  addFormatFlags(addSelectionFlags(manageModelFlags.addTo(list)))
    .addOption(new Option("--outcome <outcome>", "only those that ended in this way").choices(outcomes))
    .option("--error <code>", "only those with this error code")
    .option("--limit <n>", "maximum number of requests", readWhole, 50)
    .action(async (flags: RequestsFlags) => {
      const { outcome, error, limit, format } = flags;
      await using manage = await openManage(manageModelFlags.configOf(list));
      const query = {
        ...toQuery(flags),
        ...(outcome !== undefined && { outcome }),
        ...(error !== undefined && { error }),
      };
      process.stdout.write(print(await listAll(manage.perform, "listRequests", query, limit), format));
    });
}

export function addRequestCommand(program: Command): void {
  manageFlags
    .addTo(program.command("request").description("show one request of the ledger"))
    .argument("<id>", "value of the header x-request-id of its answer")
    .option("--json", "as JSON")
    .action(async (id: string, flags: { readonly json?: boolean }, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      const row = await manage.perform("getRequest", { id, query: {}, body: undefined });
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
