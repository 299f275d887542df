import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { InvalidArgumentError } from "commander";
import { ReportCommand, writableFile } from "@parley/common/flag-values";
import { Cluster, endAllClusters } from "./cluster.ts";
import { seconds } from "./row.ts";
import type { Result, Row } from "./row.ts";
import { killedServers } from "./rows/killed-servers.ts";
import { outages } from "./rows/outages.ts";
import { races } from "./rows/races.ts";
import { rollingRestart } from "./rows/rolling.ts";
import { largeLedger } from "./rows/size.ts";
import { addedTime } from "./rows/time.ts";
import { toMarkdown, toText } from "./print.ts";
import type { Ran } from "./print.ts";

/** All rows, in the order in which they run. */
const rows: readonly Row[] = [addedTime, ...races, ...killedServers, ...outages, rollingRestart, largeLedger];

interface Flags {
  readonly only: readonly Row[];
  readonly servers: number;
  readonly requests: number;
  readonly outage: number;
  readonly kills: number;
  readonly streams: number;
  readonly entries: number;
  readonly markdown?: string;
  readonly list?: boolean;
}

const flags = new ReportCommand("replicas")
  .description(
    "Starts real servers on one PostgreSQL and one Valkey or Redis, which must be installed, and shows whether budgets, limits " +
      "and keys hold on all of them, and while a store is away. Exit code 1: a promise was broken.",
  )
  .option(
    "--only <rows>",
    "these rows, separated by commas; `postgresql` also selects `postgresql-killed`",
    readRows,
    rows,
  )
  .option("--servers <n>", "number of servers", readCount, 8)
  .option("--requests <n>", "racing requests of each row", readCount, 2500)
  .option("--outage <seconds>", "length of the longest outages; the others take a third", readCount, 30)
  .option("--kills <n>", "number of servers that are killed in the row killed-often", readCount, 100)
  .option("--streams <n>", "number of streams in the row rolling", readCount, 500)
  .option("--entries <n>", "number of ledger entries in the row size", readCount, 1_000_000)
  .option("--markdown <file>", "also write the table to a file", writableFile)
  .option("--list", "say what the rows are, and run none")
  .parse()
  .opts<Flags>();

function readRows(text: string): readonly Row[] {
  const names = text.split(",").map((name) => name.trim());
  const named = (wanted: string): readonly Row[] =>
    rows.filter(({ name }) => name === wanted || name.startsWith(`${wanted}-`));
  const unknown = names.find((name) => named(name).length === 0);
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no row "${unknown}"; --list shows them.`);
  return rows.filter((row) => names.some((name) => named(name).includes(row)));
}

function readCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 10_000_000) throw new InvalidArgumentError("It takes a whole number from 1 to 10000000.");
  return count;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
/** Shows progress on standard error, so the table on standard output stays clean. */
const say = (line: string): void => void process.stderr.write(`  … ${line}\n`);

async function run(): Promise<void> {
  const beganMs = performance.now();
  const machine = `${flags.servers} servers, ${cpus().length} processors (${cpus()[0]?.model ?? "unknown"}), Node ${process.version}`;
  print(machine);
  await using cluster = await Cluster.start({ servers: flags.servers });
  const versions = await cluster.versions();
  print(versions);
  const ran: Ran[] = [];
  for (const [index, row] of flags.only.entries()) {
    process.stderr.write(`[${index + 1}/${flags.only.length}] ${row.name}: ${row.event}\n`);
    const rowBeganMs = performance.now();
    const result = await row.run(cluster, { ...flags, outageSeconds: flags.outage, say }).catch(toFailure);
    ran.push({ row, result, tookMs: performance.now() - rowBeganMs });
    print(toText(ran.slice(-1)));
    if ("isKept" in result && !result.isKept) process.exitCode = 1;
    const facts = [machine, versions, `${ran.length} rows in ${seconds(performance.now() - beganMs)}`];
    if (flags.markdown !== undefined) writeFileSync(flags.markdown, toMarkdown(ran, facts));
  }
  print(`${ran.length} rows in ${seconds(performance.now() - beganMs)}`);
}

/** A row that breaks is a broken promise, and the next one still runs. */
const toFailure = (error: unknown): Result => ({ found: `the row failed: ${String(error)}`, isKept: false });

if (flags.list === true)
  for (const { name, event, wanted } of flags.only) print(`${name.padEnd(22)} ${event}: ${wanted}`);
else {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void endAllClusters().finally(() => process.exit(130)));
  await run();
}
