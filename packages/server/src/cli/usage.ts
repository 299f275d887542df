import { Option } from "commander";
import type { Command } from "commander";
import { toLedgerRow } from "../metering/ledger-row.ts";
import { groupings, sumUsage } from "../metering/sum-usage.ts";
import type { Grouping, UsageSum } from "../metering/sum-usage.ts";
import { openExistingState } from "../state/open-state.ts";
import { dataFlags } from "./settings.ts";
import { toCsv, toTable } from "./table.ts";

const formats = ["table", "csv", "json"] as const;

interface UsageFlags {
  readonly by: Grouping;
  readonly format: (typeof formats)[number];
}

export function addUsageCommands(program: Command): void {
  dataFlags
    .addTo(program.command("usage").description("what was used and what it cost"))
    .addOption(new Option("--by <group>", "what a row is").choices(groupings).default("key"))
    .addOption(new Option("--format <format>", "how to print it").choices(formats).default("table"))
    .action(async (flags: UsageFlags, command: Command) => {
      using state = openExistingState(dataFlags.configOf(command).dataDir);
      process.stdout.write(print(await sumUsage(state.ledger.entries(), flags.by), flags));
    });
  dataFlags
    .addTo(
      program
        .command("request")
        .description("what the ledger says of one request")
        .argument("<id>", "the x-request-id of its answer"),
    )
    .action(async (id: string, _flags, command: Command) => {
      using state = openExistingState(dataFlags.configOf(command).dataDir);
      const entry = await state.ledger.find(id);
      if (!entry) throw new Error(`The ledger has no request ${id}. Only admitted requests are recorded.`);
      process.stdout.write(`${JSON.stringify(toLedgerRow(entry), undefined, 2)}\n`);
    });
}

function print(sums: readonly UsageSum[], { by, format }: UsageFlags): string {
  if (format === "json") return `${JSON.stringify(sums, undefined, 2)}\n`;
  const header = [by, "requests", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost_usd"];
  const rows = sums.map((sum) =>
    [sum.group, sum.requests, sum.prompt_tokens, sum.completion_tokens, sum.reasoning_tokens, sum.cost_usd].map(String),
  );
  return format === "csv" ? toCsv(header, rows) : toTable(header, rows);
}
