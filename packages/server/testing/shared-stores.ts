import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { postgresFolder } from "./start-postgres.ts";

/** The addresses of the stores in which a server keeps its state. */
export interface Stores {
  readonly databaseUrl: string;
  readonly valkeyUrl: string;
}

/** The variables with which `provide-stores.ts` switches all test servers to shared state. */
export const storeVariables = {
  /** The address of PostgreSQL, with the superuser and without a database. */
  postgres: "PARLEY_TEST_POSTGRES",
  /** The address of Valkey, without the number of a database. */
  valkey: "PARLEY_TEST_VALKEY",
} as const;

/**
 * True if the test servers of this run keep their state in PostgreSQL and Valkey. A test about the file of SQLite, such as its
 * backups or its lock, is skipped then.
 */
export const areStoresShared = process.env[storeVariables.postgres] !== undefined;

/** Number of the databases of Valkey. A server's URL has at most four digits for it. */
export const valkeyDatabases = 10_000;

const stores = new Map<string, Stores>();

/**
 * Returns the stores of a data folder, and creates its database on first use. A server that starts again on the folder, and
 * a command for it, find the same state. Returns undefined if the tests run on SQLite and memory.
 */
export function storesOf(dataDir: string): Stores | undefined {
  const { [storeVariables.postgres]: postgres, [storeVariables.valkey]: valkey } = process.env;
  if (postgres === undefined || valkey === undefined) return undefined;
  const folder = resolve(dataDir);
  const known = stores.get(folder);
  if (known) return known;
  const number = runSql(postgres, [
    "SELECT nextval('test_servers') AS number \\gset",
    "CREATE DATABASE test_:number OWNER parley;",
    "\\echo :number",
  ]);
  const databaseUrl = Object.assign(new URL(postgres), { username: "parley", pathname: `/test_${number}` }).href;
  const created = { databaseUrl, valkeyUrl: `${valkey}/${Number(number) % valkeyDatabases}` };
  stores.set(folder, created);
  return created;
}

/** Drops the databases of the data folders in a folder. Nothing may use them later. */
export function dropStores(folder: string): void {
  const { [storeVariables.postgres]: postgres } = process.env;
  if (postgres === undefined) return;
  const own = [...stores].filter(([dataDir]) => `${dataDir}/`.startsWith(`${resolve(folder)}/`));
  for (const [dataDir] of own) stores.delete(dataDir);
  const names = own.map(([, { databaseUrl }]) => new URL(databaseUrl).pathname.slice(1));
  if (names.length > 0)
    runSql(
      postgres,
      names.map((name) => `DROP DATABASE ${name} WITH (FORCE);`),
    );
}

/** Runs lines of `psql`. A constructor creates a database, so this cannot be asynchronous. @returns the output */
function runSql(url: string, lines: readonly string[]): string {
  const args = ["-X", "-At", "-q", "-v", "ON_ERROR_STOP=1", `${url}/postgres`];
  const { status, stdout, stderr } = spawnSync(join(postgresFolder ?? "", "psql"), args, {
    input: `${lines.join("\n")}\n`,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`psql failed: ${stderr}`);
  return stdout.trim();
}
