import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CliProcess, openPostgres, parley, until } from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { copiedTables } from "../../src/state/copied-tables.ts";
import { databaseFile } from "../../src/state/database-file.ts";
import { addUsd } from "../../src/accounts/money/price.ts";
import { openState } from "../../src/state/open-state.ts";
import { ServerLock } from "../../src/state/server-lock.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";
import { contentsOf, fill, pricing, spentBy, startedMs, usage } from "./filled-state.ts";

/** The tables that are not moved as they are, with the reasons. */
const notMoved = {
  secrets: "each secret is moved by itself",
  group_periods: "sums of group_spending, which are added up again when they are missing",
  schema: "the version of the tables",
  replicas: "the servers that run on this database",
  limit_buckets: "limits of the last minute, which are in memory or in Valkey elsewhere",
  limit_leases: "the same",
};

describe.skipIf(!postgresFolder)("moving the state (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  let folder: string;
  let database: string;
  let before: object;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-move-"));
    database = await postgres.createDatabase();
    using state = openState(folder);
    await fill(state);
    before = await contentsOf(state);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const env = (): Record<string, string> => ({
    PARLEY_DATABASE_URL: postgres.urlOf(database),
    PARLEY_VALKEY_URL: "valkey://127.0.0.1:1",
  });
  const migrate = (...args: readonly string[]): Promise<CliResult> =>
    parley(["migrate", "--data-dir", folder, ...args], { env: env() });
  const count = async (table: string): Promise<unknown> =>
    (await postgres.query(`SELECT count(*)::int AS rows FROM parley.${table}`, database))[0]?.["rows"];

  async function expectFolderUnchanged(): Promise<void> {
    using state = openState(folder);
    expect(await contentsOf(state)).toEqual(before);
  }

  test("every key, name, amount and entry is in PostgreSQL, and the totals are printed", async () => {
    const { code, stdout, stderr } = await migrate();
    expect([code, stderr]).toEqual([0, ""]);
    await using state = await openPostgres(postgres.urlOf(database));
    expect(await contentsOf(state)).toEqual(before);
    expect(stdout).toMatch(/^keys +2$/m);
    expect(stdout).toMatch(/^requests +120$/m);
    expect(stdout).toMatch(/^names of deleted keys +1$/m);
    expect(stdout).toMatch(/^groups +2$/m);
    expect(stdout).toMatch(
      new RegExp(
        `^spent by groups, US dollars +${addUsd(await spentBy(state, "grp_1"), await spentBy(state, "grp_2"))}$`,
        "m",
      ),
    );
    expect(stdout).toMatch(
      new RegExp(`^spent by keys, US dollars +${await state.ledger.spentUsd("bbbbbbbbbbbb")}$`, "m"),
    );
    expect(stdout).toMatch(/^held by open requests, US dollars +0\.202$/m);
    expect(stdout).toMatch(/^admin keys +1$/m);
    expect(stdout).toMatch(/^entries of the audit log +2$/m);
    // The claim of a dead server does not come along.
    expect(stdout).toMatch(/^answers kept for repeated requests +3$/m);
    expect(stdout).toMatch(/^bytes of these answers +29997$/m);
  });

  test("every table and column of both stores is moved, or is left for a reason", async () => {
    await migrate();
    const shared = copiedTables.map(({ name, columns }) => [name, columns.toSorted()] as const);
    using data = new DatabaseSync(databaseFile(folder), { readOnly: true });
    const tables = data.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    const ofFolder = tables.map(({ name }) => {
      const columns = data.prepare(`SELECT name FROM pragma_table_info('${String(name)}')`).all();
      return [String(name), columns.map((column) => String(column["name"])).toSorted()] as const;
    });
    const rows = await postgres.query(
      `SELECT table_name, json_agg(column_name ORDER BY column_name) AS columns
       FROM information_schema.columns WHERE table_schema = 'parley' GROUP BY table_name ORDER BY table_name`,
      database,
    );
    const ofPostgres = rows.map(
      (row) => [String(row["table_name"]), (row["columns"] as string[]).filter((one) => one !== "replica_id")] as const, // a JSON array of names
    );
    const left = ([name]: readonly [string, unknown]): boolean => !Object.hasOwn(notMoved, name);
    const byName = (one: readonly [string, unknown], other: readonly [string, unknown]): number =>
      one[0] < other[0] ? -1 : 1;
    for (const found of [ofFolder, ofPostgres])
      expect(found.filter(left).toSorted(byName)).toEqual(shared.toSorted(byName));
    const all = new Set([...ofFolder, ...ofPostgres].map(([name]) => name));
    expect(Object.keys(notMoved).filter((name) => !all.has(name))).toEqual([]);
  });

  test("the holds of abandoned requests come along, and are free when they are closed", async () => {
    await migrate();
    await using state = await openPostgres(postgres.urlOf(database));
    const { ledger } = state;
    const hold = {
      budgets: { budgetUsd: "0.25", monthlyBudgetUsd: undefined },
      bound: { fixedUsd: "0.1", perTokenUsd: "0", maxTokens: 1, isMaximumNamed: true },
    };
    const record = { id: "new", keyId: "bbbbbbbbbbbb", model: "m", isStream: false, startedMs, pricing };
    expect(await ledger.open(record, hold)).toMatchObject({ heldUsd: "0.202" });
    for (const { id, keyId } of await ledger.abandoned())
      await ledger.close({ id, keyId, usage, outcome: "abandoned", errorCode: undefined, costUsd: "0", endedMs: 1 });
    expect(await ledger.open(record, hold)).toEqual({ maxTokens: 1, heldUsd: "0.1" });
  });

  test("afterwards the folder refuses to be used, and names the variable", async () => {
    await migrate();
    const { code, stderr } = await parley(["keys", "list", "--data-dir", folder]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/were moved to PostgreSQL \(.*\)\. Set PARLEY_DATABASE_URL\./),
    ]);
    expect(await migrate()).toMatchObject({ code: 1, stderr: expect.stringContaining("were moved") as string });
    expect(await parley(["keys", "list"], { env: env(), cwd: folder })).toMatchObject({ code: 0 });
  });

  test("a copy whose end was not noted is recognized, and one that was used since is refused", async () => {
    await migrate();
    rmSync(join(folder, "moved-to-postgres"));
    expect((await migrate()).stdout).toMatch(/^PostgreSQL already had everything of the folder/);
    rmSync(join(folder, "moved-to-postgres"));
    await postgres.query("UPDATE parley.spending SET cost_usd = cost_usd + 0.0000001", database);
    expect(await migrate()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already has 2 keys and 120 requests") as string,
    });
    await expectFolderUnchanged();
  });

  test("a database with other keys is refused, also by --dry-run, and nothing is changed", async () => {
    {
      await using state = await openPostgres(postgres.urlOf(database));
      await state.keys.insert({ id: "dddddddddddd", hash: "", name: "other", createdMs: 1 });
    }
    for (const args of [[], ["--dry-run"]])
      expect(await migrate(...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("The database already has 1 keys and 0 requests.") as string,
      });
    expect(await count("requests")).toBe(0);
    await expectFolderUnchanged();
  });

  test("--dry-run prints the totals, and creates nothing", async () => {
    const { code, stdout, stderr } = await migrate("--dry-run");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^requests +120$[^]*Nothing was changed\.\n$/m);
    expect(await postgres.query("SELECT FROM pg_namespace WHERE nspname = 'parley'", database)).toEqual([]);
    await expectFolderUnchanged();
  });

  test("a running server is refused, of the folder and of the database", async () => {
    {
      using _lock = ServerLock.acquire(folder);
      expect(await migrate()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/Another Parley server .* Stop it/) as string,
      });
      expect(await migrate("--dry-run")).toMatchObject({ code: 0 });
    }
    await using server = await openPostgres(postgres.urlOf(database));
    await server.ledger.assertWritable();
    expect(await migrate()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Servers use the database (1)") as string,
    });
    await expectFolderUnchanged();
  });

  test.each(["SIGKILL", "SIGINT"] as const)(
    "after %s in the middle both are as before, and the next call moves all",
    async (signal) => {
      await (await openPostgres(postgres.urlOf(database)))[Symbol.asyncDispose]();
      await postgres.query(
        `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
       CREATE TRIGGER slow AFTER INSERT ON parley.requests EXECUTE FUNCTION wait()`,
        database,
      );
      {
        await using cli = new CliProcess(["migrate", "--data-dir", folder], { env: env() });
        await until(
          () => postgres.query("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"),
          (rows) => rows.length > 0,
          15_000,
        );
        cli.child.kill(signal);
        expect((await cli.result()).code).toBe(signal);
      }
      expect([await count("keys"), await count("requests")]).toEqual([0, 0]);
      expect(existsSync(join(folder, "moved-to-postgres"))).toBe(false);
      await expectFolderUnchanged();
      await postgres.query("DROP FUNCTION wait() CASCADE", database);
      expect(await migrate()).toMatchObject({ code: 0 });
      await using state = await openPostgres(postgres.urlOf(database));
      expect(await contentsOf(state)).toEqual(before);
    },
  );

  test("a copy that differs from its source is taken back", async () => {
    await (await openPostgres(postgres.urlOf(database)))[Symbol.asyncDispose]();
    await postgres.query(
      `CREATE FUNCTION round_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.cost_usd = round(NEW.cost_usd, 6); RETURN NEW; END';
       CREATE TRIGGER rounding BEFORE INSERT ON parley.requests FOR EACH ROW EXECUTE FUNCTION round_up()`,
      database,
    );
    const { code, stderr } = await migrate();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /PostgreSQL would have 0\.\d+ as requests\.cost_usd, and \S+ has 0\.\d+\. Nothing was copied\./,
    );
    expect(await count("keys")).toBe(0);
    await expectFolderUnchanged();
  });

  test("--back brings everything to the folder again, and keeps the file from before", async () => {
    await migrate();
    await postgres.query("UPDATE parley.keys SET name = 'renamed' WHERE id = 'aaaaaaaaaaaa'", database);
    const { code, stdout, stderr } = await migrate("--back");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/The replaced files are in .*replaced-/);
    using state = openState(folder);
    expect(await state.keys.find("aaaaaaaaaaaa")).toMatchObject({ name: "renamed" });
    await state.keys.update("aaaaaaaaaaaa", { name: "pläin\n🦊" });
    expect(await contentsOf(state)).toEqual(before);
  });

  test("--back refuses a folder that has keys of its own", async () => {
    expect(await migrate("--back")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("keys and a ledger of its own") as string,
    });
    await expectFolderUnchanged();
  });

  test("without PARLEY_DATABASE_URL it is called wrongly", async () => {
    expect(await parley(["migrate", "--data-dir", folder])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("PARLEY_DATABASE_URL") as string,
    });
    expect(await parley(["downgrade", "--to", "1"])).toMatchObject({ code: 2 });
  });

  test("downgrade goes back and keeps everything that version 1 knows, and the next command goes forward again", async () => {
    await migrate();
    const downgrade = (): Promise<CliResult> => parley(["downgrade", "--to", "1"], { env: env() });
    const [version] = await postgres.query("SELECT version FROM parley.schema", database);
    expect(await downgrade()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`went from version ${String(version?.["version"])} back to 1.`) as string,
    });
    expect(await downgrade()).toMatchObject({ code: 0, stdout: "The tables have version 1 already.\n" });
    await using state = await openPostgres(postgres.urlOf(database));
    const without = (contents: object): unknown =>
      JSON.parse(
        JSON.stringify(contents, (name, value: unknown) =>
          /^(?:group|budgetRaise$|adminKeys$|audit$|answers$)/.test(name) ? undefined : value,
        ),
      ) as unknown;
    expect(without(await contentsOf(state))).toEqual(without(before));
    expect(await state.groups.list()).toEqual([]);
    expect(await postgres.query("SELECT version FROM parley.schema", database)).toEqual([version]);
  });

  test("downgrade says that the tables have the version already, or that there is none", async () => {
    expect(await parley(["downgrade", "--to", "1"], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has no tables") as string,
    });
    await migrate();
    expect(await parley(["downgrade", "--to", "999"], { env: env() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Name a version from 1 to") as string,
    });
  });
});
