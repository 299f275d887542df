import { Option } from "commander";
import type { Command } from "commander";
import { sumUsage } from "../metering/usage-report.ts";
import type { UsageSum } from "../metering/usage-report.ts";
import { openDatabase } from "../state/database.ts";
import { addDataFlags, dataSettingsOf } from "./settings.ts";
import { toCsv, toTable } from "./table.ts";

const groups = ["key", "model", "day"] as const;
const formats = ["table", "csv", "json"] as const;

interface UsageFlags {
  readonly by: (typeof groups)[number];
  readonly format: (typeof formats)[number];
}

export function addUsageCommands(program: Command): void {
  addDataFlags(program.command("usage").description("what was used and what it cost"))
    .addOption(new Option("--by <group>", "what a row is").choices(groups).default("key"))
    .addOption(new Option("--format <format>", "how to print it").choices(formats).default("table"))
    .action((flags: UsageFlags, command: Command) => {
      using database = openDatabase(dataSettingsOf(command).dataDir);
      process.stdout.write(print(sumUsage(database, flags.by), flags));
    });
  addDataFlags(
    program
      .command("request")
      .description("what the ledger says of one request")
      .argument("<id>", "the x-request-id of its answer"),
  ).action((id: string, _flags, command: Command) => {
    using database = openDatabase(dataSettingsOf(command).dataDir);
    const row = database.prepare("SELECT * FROM requests WHERE id = ?").get(id);
    if (!row) throw new Error(`The ledger has no request ${id}. Only admitted requests are recorded.`);
    process.stdout.write(
      `${JSON.stringify({ ...row, prices: JSON.parse(String(row["prices"])) as unknown }, undefined, 2)}\n`,
    );
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
