import { cpus } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { Cluster } from "./cluster.ts";
import { rows } from "./rows.ts";

interface Flags {
  readonly only: readonly string[];
  readonly servers: number;
  readonly requests: number;
  readonly outage: number;
}

const flags = new Command("replicas")
  .description(
    "Starts real servers on one PostgreSQL and one Valkey or Redis, which must be installed, and shows whether budgets, limits " +
      "and keys hold on all of them, and while a store is away. Exit code 1: a promise was broken.",
  )
  .option(
    "--only <rows>",
    `these rows, separated by commas: ${Object.keys(rows).join(", ")}`,
    readRows,
    Object.keys(rows),
  )
  .option("--servers <n>", "number of servers", readCount, 8)
  .option("--requests <n>", "racing requests of each row", readCount, 2500)
  .option("--outage <seconds>", "length of each outage", readCount, 30)
  .showHelpAfterError("(--help lists what there is)")
  .parse()
  .opts<Flags>();

function readRows(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(rows, name));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no row "${unknown}".`);
  return names;
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100_000)
    throw new InvalidArgumentError("It takes a whole number from 1 to 100000.");
  return count;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`${flags.servers} servers, ${cpus().length} processors (${cpus()[0]?.model}), Node ${process.version}`);
await using cluster = await Cluster.start(flags.servers);
for (const name of flags.only) {
  const result = await rows[name]?.(cluster, { requests: flags.requests, outageSeconds: flags.outage });
  if (!result) continue;
  say(
    `${result.isKept ? "kept  " : "BROKEN"}  ${result.name}\n        wanted ${result.wanted}\n        found  ${result.found}`,
  );
  if (!result.isKept) process.exitCode = 1;
}
