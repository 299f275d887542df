import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { monthOf } from "../../src/accounts/money/month.ts";
import { openState } from "../../src/state/open-state.ts";
import { ServerLock } from "../../src/state/server-lock.ts";
import { schemaVersion } from "../../src/state/tables.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-upgrade-"));
  file = join(folder, "parley.db");
  write(1);
});

/** Creates the file as this version left it. Each version's script adds to the one before. */
function write(version: number): void {
  rmSync(file, { force: true });
  using database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL");
  for (let step = 1; step <= version; step += 1)
    database.exec(readFileSync(join(import.meta.dirname, `version-${step}.sql`), "utf8"));
}
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns all rows of the tables of version 1, in the columns of version 1. */
function contentsOf(path: string): object {
  using database = new DatabaseSync(path, { readOnly: true });
  const read = (query: string): object[] => database.prepare(query).all();
  return {
    keys: read(
      "SELECT id, hash, name, created_ms, expires_ms, disabled_ms, models, requests_per_minute, tokens_per_minute, concurrency, budget_usd FROM keys ORDER BY id",
    ),
    spending: read("SELECT key_id, cost_usd FROM spending"),
    requests: read(
      "SELECT id, key_id, model, is_stream, started_ms, ended_ms, outcome, error_code, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices FROM requests ORDER BY id",
    ),
  };
}

function versionOf(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare("PRAGMA user_version").get()?.["user_version"];
}

describe("forward", () => {
  test("every key, amount and request is kept, and this month's spending counts against a budget set later", async () => {
    const before = contentsOf(file);
    {
      using state = openState(folder);
      expect(await state.ledger.spentUsd("aaaaaaaaaaaa")).toBe("3.0000003");
      expect(await state.ledger.spentUsd("aaaaaaaaaaaa", monthOf(Date.now()))).toBe("1.0000003");
      expect(await state.keys.find("bbbbbbbbbbbb")).toMatchObject({ name: "with every rule", budgetUsd: "12.5" });
      expect((await state.ledger.abandoned()).map(({ id }) => id)).toEqual(["req_open"]);
    }
    expect(contentsOf(file)).toEqual(before);
    expect(versionOf(file)).toBe(schemaVersion);
  });

  test("from version 2: budgets of a month and former secrets are kept, and a key has the weight 1", async () => {
    write(2);
    const before = contentsOf(file);
    {
      using state = openState(folder);
      const key = await state.keys.find("bbbbbbbbbbbb");
      expect(key).toMatchObject({ monthlyBudgetUsd: "25", former: { untilMs: 1_800_000_000_000 }, weight: undefined });
      expect(await state.ledger.spentUsd("aaaaaaaaaaaa", monthOf(Date.now()))).toBe("0.75");
      expect(await state.keys.update("bbbbbbbbbbbb", { weight: 3 })).toBe(true);
      expect(await state.keys.find("bbbbbbbbbbbb")).toMatchObject({ weight: 3 });
    }
    expect(contentsOf(file)).toEqual(before);
    expect(versionOf(`${file}.v2`)).toBe(2);
    expect(contentsOf(`${file}.v2`)).toEqual(before);
  });

  test("happens once: opening the folder again changes nothing", () => {
    openState(folder)[Symbol.dispose]();
    rmSync(`${file}.v1`);
    openState(folder)[Symbol.dispose]();
    expect(existsSync(`${file}.v1`)).toBe(false);
  });

  test("the secret of the prompt caches is drawn once, and not for another folder again", () => {
    const drawn = (): string => {
      using state = openState(folder);
      expect(state.cacheSecret).toHaveLength(32);
      return Buffer.from(state.cacheSecret).toString("hex");
    };
    const first = drawn();
    expect(drawn()).toBe(first);
    for (const log of ["", "-wal", "-shm"]) rmSync(`${file}${log}`, { force: true });
    write(1);
    expect(drawn()).not.toBe(first);
  });

  test("waits until a server of the earlier version has stopped", () => {
    {
      using _lock = ServerLock.acquire(folder);
      expect(() => openState(folder)).toThrow(
        new RegExp(`earlier version \\(process ${process.pid}\\) .* Stop it first`),
      );
      expect(versionOf(file)).toBe(1);
    }
    openState(folder)[Symbol.dispose]();
    expect(versionOf(file)).toBe(schemaVersion);
  });
});

describe("back", () => {
  test("the copy is the folder as the earlier version left it, and takes its place again", () => {
    const before = contentsOf(file);
    openState(folder)[Symbol.dispose]();
    expect(statSync(`${file}.v1`).mode & 0o777).toBe(0o600);
    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    renameSync(`${file}.v1`, file);
    expect(versionOf(file)).toBe(1);
    expect(contentsOf(file)).toEqual(before);
  });

  test("a folder of a newer version is refused, and nothing of it is changed", () => {
    openState(folder)[Symbol.dispose]();
    {
      using database = new DatabaseSync(file);
      database.exec(`PRAGMA user_version = ${schemaVersion + 1}`);
    }
    expect(() => openState(folder)).toThrow(
      `newer Parley (schema ${schemaVersion + 1}, this one knows ${schemaVersion})`,
    );
    expect(versionOf(file)).toBe(schemaVersion + 1);
  });
});
