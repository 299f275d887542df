import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "@parley/server/testing";
import { goBack, migrate, migrationLock } from "../../src/state/postgres/migrate.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { changes } from "../../src/state/postgres/tables.ts";
import type { Change } from "../../src/state/postgres/tables.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";

const report = (): void => undefined;

/** A change of a later version, as tests need one. */
const colours: Change = {
  brings: "colours of keys",
  forward: "ALTER TABLE parley.keys ADD colour text",
  back: "ALTER TABLE parley.keys DROP colour",
};

describe.skipIf(!postgresFolder)("changes of the tables in PostgreSQL (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  const databaseOf = (url: string): string => new URL(url).pathname.slice(1);
  const newUrl = async (): Promise<string> => postgres.urlOf(await postgres.createDatabase());
  const versionOf = async (url: string): Promise<unknown> =>
    (await postgres.query("SELECT version FROM parley.schema", databaseOf(url)))[0]?.["version"];

  async function connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  /** Creates the tables of a version, with a key, an ended request and its cost. */
  async function createVersion(version: number): Promise<Client> {
    const client = await connect(await newUrl());
    await migrate(client, { changes: changes.slice(0, version - 1), report });
    await client.query(readFileSync(join(import.meta.dirname, "postgres-version-1.sql"), "utf8"));
    return client;
  }

  /** Returns the definitions of the tables and their rows, as `pg_dump` writes them, without the version. */
  const dumpOf = (client: Client): string =>
    execFileSync(
      join(postgresFolder ?? "", "pg_dump"),
      ["--schema=parley", "--inserts", "--exclude-table-data=parley.schema", postgres.urlOf(client.database ?? "")],
      { encoding: "utf8" },
    )
      .split("\n")
      .filter((line) => !line.startsWith("\\"))
      .join("\n");

  test.each(
    ["the first tables", ...changes.map(({ brings }) => brings)].map((brings, index) => [index + 1, brings] as const),
  )("from version %i (%s) forward and back, all definitions and rows are as before", async (version) => {
    const client = await createVersion(version);
    const before = dumpOf(client);
    const next = [...changes, colours].slice(0, version);
    await migrate(client, { changes: next, report });
    const after = dumpOf(client);
    expect(after).not.toBe(before);
    expect(await goBack(client, version, { changes: next, report })).toBe(version + 1);
    expect(dumpOf(client)).toBe(before);
    await migrate(client, { changes: next, report });
    expect(dumpOf(client)).toBe(after);
  });

  test("the guide about upgrades has a row for each version", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/upgrades.md"), "utf8");
    const [, table = ""] = guide.split("## Servers that share PostgreSQL");
    const rows = Array.from(table.matchAll(/^\| (\d+) +\| (.*?) *\|$/gm), ([, version, brings]) => [
      Number(version),
      brings,
    ]);
    expect(rows.slice(1)).toEqual(changes.map(({ brings }, index) => [index + 2, brings]));
  });

  test("all changes are undone by one command, after which the earlier version starts", async () => {
    const client = await createVersion(1);
    const before = dumpOf(client);
    await migrate(client, { changes: [...changes, colours], report });
    const lines: string[] = [];
    await goBack(client, 1, { changes: [...changes, colours], report: (line) => lines.push(line) });
    expect(lines[0]).toBe(`The tables of the database lose colours of keys (version ${changes.length + 2}).`);
    expect(dumpOf(client)).toBe(before);
    await migrate(client, { changes: [], report });
  });

  test("the statements of a server of version 1 are understood by the tables of today", async () => {
    const client = await createVersion(changes.length + 1);
    const statements = readFileSync(join(import.meta.dirname, "postgres-version-1-statements.sql"), "utf8").split(
      ";\n",
    );
    expect(statements.length).toBeGreaterThan(15);
    for (const [index, statement] of statements.entries())
      if (statement.trim() !== "") await client.query(`PREPARE statement_${index} AS ${statement}`);
  });

  test("an earlier version refuses the tables, and names the command that brings them back", async () => {
    const client = await createVersion(1);
    await migrate(client, { changes: [...changes, colours], report });
    const known = changes.length + 1;
    await expect(migrate(client, { report })).rejects.toMatchObject({
      name: "StateError",
      message: `The database ${client.database ?? ""} was written by a newer Parley (schema ${known + 1}, this one knows ${known}). Start that version, or bring the database back with that version: npx -y pnpm@12.21.0 parley downgrade --to ${known}`,
    });
    await expect(goBack(client, 1, { report })).rejects.toThrow(`parley downgrade --to ${known}`);
  });

  test.each([0, -1, 99])("there is no way back to version %i", async (to) => {
    const client = await createVersion(1);
    await expect(goBack(client, to, { report })).rejects.toThrow("version 1. Name a version from 1 to 1.");
  });

  test("the way back waits until all servers have stopped", async () => {
    const url = await newUrl();
    const state = await openPostgres(url);
    await state.ledger.assertWritable();
    const client = await connect(url);
    await expect(goBack(client, 1, { report })).rejects.toThrow("Servers use the database (1). Stop them first.");
    await state[Symbol.asyncDispose]();
    await goBack(client, 1, { report });
  });

  test("of three starts at once, one makes the changes, and the others wait and say so", async () => {
    const first = await createVersion(1);
    const clients = [
      first,
      await connect(postgres.urlOf(first.database ?? "")),
      await connect(postgres.urlOf(first.database ?? "")),
    ];
    const slow = { ...colours, forward: `SELECT pg_sleep(2); ${colours.forward}` };
    const lines: string[] = [];
    const all = clients.map((client) =>
      migrate(client, { changes: [...changes, slow], report: (line) => lines.push(line) }),
    );
    const secrets = await Promise.all(all);
    expect(new Set(secrets.map((secret) => Buffer.from(secret).toString("hex"))).size).toBe(1);
    expect(lines.filter((line) => line.includes("colours"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("Another process changes"))).toHaveLength(2);
  });

  test("a process killed in the middle leaves nothing behind, and the next start makes the changes at once", async () => {
    const client = await createVersion(1);
    const url = postgres.urlOf(client.database ?? "");
    const before = dumpOf(client);
    const stuck = { ...colours, brings: "a pause", forward: "SELECT pg_sleep(60)", back: "" };
    const child = migrateInChild(url, [...changes, colours, stuck]);
    await until(
      () => postgres.query("SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND pid <> pg_backend_pid()"),
      (rows) => rows.length === 1,
      15_000,
    );
    child.kill("SIGKILL");
    const startedMs = performance.now();
    expect(await versionOf(url)).toBe(1);
    await migrate(client, { changes: [], report });
    expect(dumpOf(client)).toBe(before);
    await migrate(client, { changes: [...changes, colours], report });
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(await versionOf(url)).toBe(changes.length + 2);
  });

  test("a change does not hold up servers while a dump reads the tables: it waits, and says so", async () => {
    const client = await createVersion(1);
    const url = postgres.urlOf(client.database ?? "");
    await using server = await openPostgres(url, { maxStatementMs: 2000 });
    const dump = await connect(url);
    await dump.query("BEGIN; LOCK TABLE parley.keys IN ACCESS SHARE MODE");
    const lines: string[] = [];
    const changing = migrate(client, { changes: [...changes, colours], report: (line) => lines.push(line) });
    await until(
      async () => {
        await server.keys.list();
        return lines;
      },
      (told) => told.includes("A statement of another program uses the tables of the database. Waiting for its end."),
    );
    for (let count = 0; count < 10; count += 1) {
      await server.keys.list();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await versionOf(url)).not.toBe(changes.length + 2);
    await dump.query("COMMIT");
    await changing;
    await server.keys.list();
    expect(await versionOf(url)).toBe(changes.length + 2);
  });

  test("a current database is opened while another process holds the lock", async () => {
    const url = await newUrl();
    await (await openPostgres(url))[Symbol.asyncDispose]();
    const holder = await connect(url);
    await holder.query("SELECT pg_advisory_lock($1)", [migrationLock]);
    await using state = await openPostgres(url);
    expect(await state.keys.list()).toEqual([]);
  });
});

function migrateInChild(url: string, wanted: readonly Change[]) {
  const module = new URL("../../src/state/postgres/migrate.ts", import.meta.url).href;
  const script = `import { Client } from "pg"; import { migrate } from "${module}";
    const client = new Client("${url}"); await client.connect();
    await migrate(client, { changes: ${JSON.stringify(wanted)}, report: () => undefined });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
