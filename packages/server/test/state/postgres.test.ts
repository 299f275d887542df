import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  assertCase,
  idempotencyStoreContract,
  keyStoreContract,
  until,
  usageLedgerContract,
} from "@parley/server/testing";
import type { IdempotencyStoreSubject, KeyStoreSubject, UsageLedgerSubject } from "@parley/server/testing";
import { always } from "../../src/accounts/money/period.ts";
import { KeyCache } from "../../src/state/postgres/key-cache.ts";
import { PostgresKeyStore } from "../../src/state/postgres/postgres-key-store.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { changes } from "../../src/state/postgres/tables.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";

describe.skipIf(!postgresFolder)("state in PostgreSQL (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  /** The database whose URL is spoiled. */
  let existing: string;
  beforeAll(async () => {
    postgres = await TestPostgres.start();
    existing = await postgres.createDatabase();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function openKeys(): Promise<KeyStoreSubject & AsyncDisposable & { readonly url: string }> {
    const url = postgres.urlOf(await postgres.createDatabase());
    const states = [await openPostgres(url), await openPostgres(url)] as const;
    return {
      url,
      store: states[0].keys,
      other: states[1].keys,
      [Symbol.asyncDispose]: async () => {
        for (const state of states) await state[Symbol.asyncDispose]();
      },
    };
  }

  async function openIdempotency(): Promise<IdempotencyStoreSubject & AsyncDisposable> {
    const url = postgres.urlOf(await postgres.createDatabase());
    const states = [await openPostgres(url), await openPostgres(url)] as const;
    return {
      store: states[0].idempotency,
      other: states[1].idempotency,
      [Symbol.asyncDispose]: async () => {
        for (const state of states) await state[Symbol.asyncDispose]();
      },
    };
  }

  async function openLedger(): Promise<UsageLedgerSubject & AsyncDisposable> {
    const database = await postgres.createDatabase();
    const url = postgres.urlOf(database);
    let state = await openPostgres(url);
    return {
      ledger: state.ledger,
      restart: async () => {
        await state[Symbol.asyncDispose]();
        state = await openPostgres(url);
        return state.ledger;
      },
      refuseWrites: async (isRefused) => {
        const change = isRefused ? ["REVOKE", "FROM"] : ["GRANT", "TO"];
        const rights = "INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA parley";
        await postgres.query(`${change[0]} ${rights} ${change[1]} parley`, database);
      },
      [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
    };
  }

  describe("the key store", () => {
    test.each(keyStoreContract)("$title", (one) => assertCase(one, openKeys));

    test("asks once for all keys that are searched at the same time", async () => {
      await using subject = await openKeys();
      const ids = Array.from({ length: 200 }, (_none, index) => index.toString(16).padStart(12, "0"));
      for (const id of ids.slice(100)) await subject.store.insert({ id, hash: "", name: id, createdMs: 1 });
      const pool = new Pool({ connectionString: subject.url });
      let queries = 0;
      pool.on("acquire", () => (queries += 1));
      await using cache = new KeyCache({ connectionString: subject.url });
      const store = new PostgresKeyStore(pool, cache);
      const found = await Promise.all(ids.map((id) => store.find(id)));
      expect(found.map((key) => key?.name)).toEqual([...ids.slice(0, 100).map(() => undefined), ...ids.slice(100)]);
      expect(queries).toBe(1);
      await pool.end();
    });
  });

  describe("the idempotency store", () => {
    test.each(idempotencyStoreContract)("$title", (one) => assertCase(one, openIdempotency));

    test("takes over the claim of a server that died, and never that of a live one", async () => {
      const url = postgres.urlOf(await postgres.createDatabase());
      const claim = { keyId: "a", idempotencyKey: "one", bodyHash: "1", nowMs: 1, expiresMs: 1000 };
      const leaseMs = 1500;
      const dead = await openPostgres(url, { leaseMs });
      await using live = await openPostgres(url, { leaseMs });
      await live.ledger.assertWritable();
      expect(await dead.idempotency.claim({ ...claim, requestId: "req_1" })).toEqual({ kind: "claimed" });
      expect(await live.idempotency.claim({ ...claim, requestId: "req_2" })).toMatchObject({ kind: "running" });
      // It ends without a word about its claim, and its lease expires.
      await dead[Symbol.asyncDispose]();
      await until(
        () => live.idempotency.claim({ ...claim, requestId: "req_2" }),
        ({ kind }) => kind === "claimed",
      );
      await new Promise((resolve) => setTimeout(resolve, leaseMs + 500));
      const again = await live.idempotency.claim({ ...claim, requestId: "req_3" });
      expect(again).toEqual({ kind: "running", requestId: "req_2" });
    });

    test("removes the expired claim of a server that ended, and never that of a live one", async () => {
      const url = postgres.urlOf(await postgres.createDatabase());
      const claim = { keyId: "a", bodyHash: "1", nowMs: 1, expiresMs: 1000 };
      const ended = await openPostgres(url);
      await using live = await openPostgres(url);
      for (const [index, { idempotency, ledger }] of [ended, live].entries()) {
        await ledger.assertWritable();
        await idempotency.claim({ ...claim, idempotencyKey: `key ${index}`, requestId: `req_${index}` });
      }
      expect(await live.idempotency.prune(2000)).toBe(0);
      await ended[Symbol.asyncDispose]();
      expect(await live.idempotency.prune(2000)).toBe(1);
      const next = await live.idempotency.claim({ ...claim, idempotencyKey: "key 1", requestId: "req_9" });
      expect(next).toEqual({ kind: "running", requestId: "req_1" });
    });
  });

  describe("the usage ledger", () => {
    test.each(usageLedgerContract)("$title", (one) => assertCase(one, openLedger));
  });

  test("calls about one key share transactions, and one that fails spoils none of the others", async () => {
    const url = postgres.urlOf(await postgres.createDatabase());
    await using state = await openPostgres(url);
    const pool = new Pool({ connectionString: url });
    const transactions = async (): Promise<number> => {
      const { rows } = await pool.query<{ count: string }>("SELECT count(DISTINCT xmin::text) FROM parley.requests");
      return Number(rows[0]?.count);
    };
    const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
    const row = { keyId: "key", model: "vendor/model-1", isStream: true, startedMs: 1, pricing };
    const ids = Array.from({ length: 100 }, (_none, index) => `request-${index}`);
    await Promise.all(ids.map((id) => state.ledger.open({ ...row, id })));
    expect(await transactions()).toBe(2);
    const again = await Promise.allSettled(
      ["new-1", "request-7", "new-2"].map((id) => state.ledger.open({ ...row, id })),
    );
    expect(again.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 };
    const end = { keyId: "key", usage, outcome: "complete", errorCode: undefined, costUsd: "0.1" } as const;
    const times = [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1)];
    await Promise.all(ids.map((id, index) => state.ledger.close({ ...end, id, endedMs: times[index % 2] ?? 0 })));
    // Two closed the hundred, and "new-1" and "new-2" have one each.
    expect(await transactions()).toBe(4);
    await pool.end();
    expect(await state.ledger.spentUsd("key")).toBe("10");
    expect(await state.ledger.spentUsd("key", "2026-10")).toBe("5");
  });

  test("three servers, with keys of groups that move: no deadlock, no budget is exceeded, and all holds are released", async () => {
    const database = await postgres.createDatabase();
    const states = await Promise.all([1, 2, 3].map(() => openPostgres(postgres.urlOf(database))));
    const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
    const bound = { fixedUsd: "0.5", perTokenUsd: "0.5", maxTokens: 1, isMaximumNamed: true };
    const spans = [always, { fromMs: 0, toMs: 9_000_000 }];
    const groupOf = (id: string, turn: number) => {
      return { id, name: id, budgetUsd: "20", period: undefined, timeZone: undefined, ...(spans[turn % 2] ?? always) };
    };
    // Groups above and below each other, in both orders of their ids, as servers may see them that have not heard of a move.
    const places = [["a", "b"], ["b", "a"], ["c", "a"], ["b", "c"], ["c"]];
    const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
    const act = async (turn: number): Promise<void> => {
      const groupIds = places[turn % places.length] ?? [];
      const [ledger, other] = [0, 1].map((more) => states[(turn + more) % 3]?.ledger);
      const record = { id: `r ${turn}`, keyId: `key ${turn % 4}`, model: "m", isStream: false, startedMs: 5, pricing };
      const groups = groupIds.map((id) => groupOf(id, turn >> 3));
      const budgets = { budgetUsd: undefined, monthlyBudgetUsd: undefined, groups };
      const got = await ledger?.open({ ...record, groupIds }, { bound, budgets });
      if (!got || "restUsd" in got) return;
      if (turn % 3 === 0) return other?.withdraw(record.id);
      const end = { usage, outcome: "complete", errorCode: undefined, costUsd: "1", endedMs: 6 } as const;
      await other?.close({ ...end, id: record.id, keyId: record.keyId, groupIds });
    };
    await Promise.all(Array.from({ length: 600 }, (_none, turn) => act(turn)));
    // A hold that was withdrawn last leaves room. Calls one after another fill it, and the next are refused.
    for (let turn = 600; turn < 690; turn += 1) await act(turn);
    const read = (table: string) =>
      postgres.query(
        `SELECT group_id, sum(cost_usd)::int AS cost, sum(held_usd)::int AS held FROM parley.${table} GROUP BY 1 ORDER BY 1`,
        database,
      );
    const sums = await read("group_spending");
    expect(await read("group_periods")).toEqual(sums);
    expect(sums.map(({ held }) => held)).toEqual([0, 0, 0]);
    const costs = sums.map(({ cost }) => Number(cost));
    expect(Math.max(...costs)).toBe(20);
    for (const state of states) await state[Symbol.asyncDispose]();
  });

  test("entries are read in pages and pruned in steps", async () => {
    const database = await postgres.createDatabase();
    await using state = await openPostgres(postgres.urlOf(database));
    const { ledger } = state;
    await postgres.query(
      `INSERT INTO parley.requests SELECT lpad(n::text, 5, '0'), 'key', 'model', false, n / 1500, 5000, 'complete', NULL,
         0, 0, 0, 0, 0, '{}', 0, gen_random_uuid() FROM generate_series(1, 4500) n`,
      database,
    );
    for (const order of ["oldest first", "newest first"] as const) {
      const ids: string[] = [];
      for await (const { id } of ledger.entries({ keyId: "key" }, order)) ids.push(id);
      expect(ids).toHaveLength(4500);
      expect(order === "oldest first" ? ids : ids.toReversed()).toEqual(ids.toSorted());
    }
    expect(await ledger.prune(5001)).toBe(4500);
  });

  test("a database of a newer version is refused, and not changed", async () => {
    const database = await postgres.createDatabase();
    const url = postgres.urlOf(database);
    await (await openPostgres(url))[Symbol.asyncDispose]();
    await postgres.query("UPDATE parley.schema SET version = 99", database);
    await expect(openPostgres(url)).rejects.toMatchObject({
      name: "StateError",
      message: `The database ${database} was written by a newer Parley (schema 99, this one knows ${changes.length + 1}). Start that version, or bring the database back with that version: npx -y pnpm@12.21.0 parley downgrade --to ${changes.length + 1}`,
    });
    expect(await postgres.query("SELECT version FROM parley.schema", database)).toEqual([{ version: 99 }]);
  });

  const malformed = /^The URL of PostgreSQL is malformed: write postgres:/;
  test.each([
    ["that is empty", () => "", malformed],
    ["of another protocol", (url: URL) => url.href.replace("postgres:", "mysql:"), malformed],
    ["without a host and a protocol", () => "host=localhost password=secret", malformed],
    ["with a # in its password", (url: URL) => url.href.replace("secret", "secret#1"), malformed],
    ["with a broken escape", (url: URL) => url.href.replace("secret", "secret%E0%A4"), malformed],
    ["with a port that is too high", (url: URL) => url.href.replace(/:\d+\//, ":99999/"), malformed],
    ["where nothing listens", (url: URL) => url.href.replace(/:\d+\//, ":1/"), /127.0.0.1:1 refuses the connection:/],
    ["of an unknown host", (url: URL) => url.href.replace("127.0.0.1", "nowhere.invalid"), /has an unknown host name/],
    ["with a wrong password", (url: URL) => url.href.replace("secret", "secret2"), /does not accept the user or the/],
    ["without a password", (url: URL) => url.href.replace(":secret", ""), /does not accept the user or the password/],
    ["with an unknown user", (url: URL) => url.href.replace("parley:", "nobody:"), /does not accept the user or the/],
    ["of a missing database", (url: URL) => `${url.href}_absent`, /does not have this database: create it/],
    ["of a database without rights", (url: URL) => url.href.replace(/[^/]+$/, "postgres"), /grant it CREATE on/],
    [
      "that wants TLS",
      (url: URL) => `${url.href}?sslmode=verify-full`,
      /cannot be used: The server does not support SSL/,
    ],
    [
      "with a missing certificate",
      (url: URL) => `${url.href}?sslrootcert=/none`,
      /cannot be used: ENOENT: no such file/,
    ],
  ])("a URL %s gets one sentence without the password", async (_what, spoil, sentence) => {
    const error = await openPostgres(spoil(new URL(postgres.urlOf(existing)))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "StateError", message: expect.stringMatching(sentence) as string }); // a matcher
    const { message } = error as Error; // toMatchObject has checked it
    expect(message).not.toContain("secret");
    expect(message).toMatch(/^[^\n]+[^.]\.$/);
  });
});
