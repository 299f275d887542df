import type { Command } from "commander";
import { Option } from "commander";
import { groupings } from "../accounts/ledger/sum-usage.ts";
import type { Grouping, UsageCounts } from "../accounts/ledger/sum-usage.ts";
import { openManage } from "./manage.ts";
import { addPruneCommand } from "./prune.ts";
import { addSelectionFlags, toQuery } from "./select-entries.ts";
import type { SelectionFlags } from "./select-entries.ts";
import { manageModelFlags } from "./settings.ts";
import { addFormatFlags, toRows } from "./table.ts";
import type { Format } from "./table.ts";

interface UsageFlags extends SelectionFlags {
  readonly by: Grouping;
  readonly format: Format;
}

export function addUsageCommand(program: Command): void {
  const usage = program
    .command("usage")
    .description("sum up usage and cost")
    // Flags after `prune` belong to that subcommand.
    .enablePositionalOptions();
  addFormatFlags(addSelectionFlags(manageModelFlags.addTo(usage)))
    .addOption(new Option("--by <group>", "group of each row").choices(groupings).default("key"))
    .action(async (flags: UsageFlags) => {
      await using manage = await openManage(manageModelFlags.configOf(usage));
      const query = { ...toQuery(flags), by: flags.by };
      const { data } = await manage.perform("getUsage", { id: undefined, query, body: undefined });
      const rows = data.map(({ group, name, ...counts }) => ({ ...groupColumns(flags.by, group, name), ...counts }));
      process.stdout.write(toRows([...columnsOf[flags.by], ...countColumns], rows, flags.format));
    });
  addPruneCommand(usage);
}

const columnsOf: Readonly<Record<Grouping, readonly string[]>> = {
  key: ["key_id", "key_name"],
  model: ["model"],
  day: ["day"],
  group: ["group_id", "group_name"],
};

const countColumns: readonly (keyof UsageCounts)[] = [
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "cost_usd",
];

const groupColumns = (by: Grouping, group: string, name: string | null): Record<string, string> =>
  by === "key" || by === "group" ? { [`${by}_id`]: group, [`${by}_name`]: name ?? "" } : { [by]: group };
