import type { Command } from "commander";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";
import type { Totals } from "../state/copied-tables.ts";
import { moveToFolder, moveToPostgres, previewMove } from "../state/move-state.ts";
import type { MoveOptions } from "../state/move-state.ts";
import { downgradePostgres } from "../state/postgres/open-postgres.ts";
import { readWhole } from "./read-argument.ts";
import { typed } from "../state/typed.ts";
import { dataFlags } from "./settings.ts";
import { toTable } from "./table.ts";

interface MigrateFlags {
  readonly back?: boolean;
  readonly dryRun?: boolean;
}

const help = `
The copy is one transaction. When it is interrupted, the folder and PostgreSQL are as before.
Afterwards the folder refuses to be used, because two places would grant every budget twice.
Stop the server first: ${typed("stop")}`;

export function addMigrateCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("migrate")
        .description(
          "move keys and ledger from the data folder to PostgreSQL (PARLEY_DATABASE_URL); no server may run",
        ),
    )
    .option("--back", "move them from PostgreSQL to the data folder")
    .option("--dry-run", "check the folder and the database, and change nothing; a server may run")
    .addHelpText("after", help)
    .action(async (flags: MigrateFlags, command: Command) => {
      const { dataDir, databaseUrl } = withDatabase(dataFlags.configOf(command));
      const options = { dataDir, databaseUrl, nowMs: Date.now(), report: say, progress: showRows() };
      if (flags.back === true && flags.dryRun === true)
        command.error("error: --dry-run goes with the way to PostgreSQL");
      await (flags.back === true ? back(options) : flags.dryRun === true ? preview(options) : forth(options));
    });
}

async function forth(options: MoveOptions): Promise<void> {
  const { totals, wasThere } = await moveToPostgres(options);
  print(wasThere ? "PostgreSQL already had everything of the folder:" : "Moved to PostgreSQL:", totals);
  process.stdout.write(
    `The folder ${options.dataDir} is marked as moved: no server starts on it without PARLEY_DATABASE_URL.\n`,
  );
}

async function preview(options: MoveOptions): Promise<void> {
  const totals = await previewMove(options);
  print("PostgreSQL can be used and is empty. To be moved:", totals);
  process.stdout.write("Nothing was changed.\n");
}

async function back(options: MoveOptions): Promise<void> {
  const { totals, replaced } = await moveToFolder(options);
  print(`Moved to ${options.dataDir}:`, totals);
  if (replaced !== undefined) process.stdout.write(`The replaced files are in ${replaced}.\n`);
  process.stdout.write(
    "PostgreSQL was not changed. Unset PARLEY_DATABASE_URL and PARLEY_VALKEY_URL before you start.\n",
  );
}

const names: Readonly<Record<string, string>> = {
  groups: "groups",
  keys: "keys",
  deleted_keys: "names of deleted keys",
  requests: "requests",
  "requests.prompt_tokens": "prompt tokens",
  "requests.completion_tokens": "completion tokens",
  "requests.cost_usd": "cost of all requests, US dollars",
  "spending.cost_usd": "spent by keys, US dollars",
  "monthly_spending.cost_usd": "spent by keys in months, US dollars",
  "group_spending.cost_usd": "spent by groups, US dollars",
  "spending.held_usd": "held by open requests, US dollars",
  admin_keys: "admin keys",
  audit: "entries of the audit log",
  idempotency: "answers kept for repeated requests",
  "idempotency.body": "bytes of these answers",
};

/** Prints the totals, which are the same on both sides. */
function print(title: string, totals: Totals): void {
  const rows = Object.entries(names).map(([name, text]) => [text, totals.get(name) ?? ""]);
  process.stdout.write(`${title}\n${toTable(["content", "total"], rows)}`);
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
/** Milliseconds between two lines about the progress. */
const everyMs = 2000;

/** Returns a function that shows the progress of long copies on standard error. */
function showRows(): MoveOptions["progress"] {
  let shownMs = performance.now();
  return (table, rows, allRows) => {
    if (performance.now() - shownMs < everyMs) return;
    shownMs = performance.now();
    say(`${table}: ${rows} of ${allRows} rows`);
  };
}

function withDatabase({ dataDir, databaseUrl }: Config): { readonly dataDir: string; readonly databaseUrl: string } {
  if (databaseUrl !== undefined) return { dataDir, databaseUrl };
  throw new ConfigError(["PARLEY_DATABASE_URL is not set: it names the PostgreSQL to use."]);
}

export function addDowngradeCommand(program: Command): void {
  dataFlags
    .addTo(
      program
        .command("downgrade")
        .description("bring the tables in PostgreSQL back to the version of an earlier Parley; no server may run"),
    )
    .requiredOption("--to <version>", "the version that the earlier Parley knows: its message names it", readWhole)
    .action(async ({ to }: { readonly to: number }, command: Command) => {
      const { databaseUrl } = withDatabase(dataFlags.configOf(command));
      const before = await downgradePostgres(databaseUrl, to, say);
      process.stdout.write(
        before === to
          ? `The tables have version ${to} already.\n`
          : `The tables went from version ${before} back to ${to}. Start the earlier Parley now: this one would bring them forward again.\n`,
      );
    });
}
