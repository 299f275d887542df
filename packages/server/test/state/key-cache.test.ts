import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "@parley/server/testing";
import type { KeyStore } from "@parley/server/testing";
import { KeyCache } from "../../src/state/postgres/key-cache.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { PostgresKeyStore } from "../../src/state/postgres/postgres-key-store.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";
import { startProxy } from "./silent-proxy.ts";

const id = "aaaaaaaaaaaa";
const key = { id, hash: "a".repeat(64), name: "one", createdMs: 1 };

describe.skipIf(!postgresFolder)("keys from PostgreSQL in memory (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  interface Subject {
    readonly url: string;
    readonly store: KeyStore;
    /** Of another server. */
    readonly other: KeyStore;
    /** Returns the number of queries of `store` so far. */
    readonly queries: () => number;
  }

  /** Opens a store whose cache listens at the URL that `listenAt` returns, with a key that the cache has. */
  async function open(listenAt = async (url: string): Promise<string> => url): Promise<Subject> {
    const url = postgres.urlOf(await postgres.createDatabase());
    const state = await openPostgres(url);
    const pool = new Pool({ connectionString: url });
    const cache = new KeyCache({ connectionString: await listenAt(url) });
    onTestFinished(async () => {
      await cache[Symbol.asyncDispose]();
      await pool.end();
      await state[Symbol.asyncDispose]();
    });
    let queries = 0;
    pool.on("acquire", () => (queries += 1));
    const subject = { url, store: new PostgresKeyStore(pool, cache), other: state.keys, queries: () => queries };
    await subject.other.insert(key);
    await until(
      async () => asksFor(subject),
      (asked) => !asked,
    );
    return subject;
  }

  /** Returns whether a search for the key asks the database. */
  async function asksFor({ store, queries }: Subject): Promise<boolean> {
    const before = queries();
    await store.find(id);
    return queries() > before;
  }

  const isDisabled = async ({ store }: Subject): Promise<boolean> => (await store.find(id))?.disabledMs !== undefined;
  /** Waits for a change that another server has made. @throws when it is not seen within a second */
  const untilDisabled = (subject: Subject): Promise<boolean> =>
    until(
      () => isDisabled(subject),
      (disabled) => disabled,
      1000,
    );

  test("are asked for once, and not again while nothing changes", async () => {
    const subject = await open();
    // A busy machine may delay a probe of the connection, and then the key is asked for.
    await until(
      async () => {
        const before = subject.queries();
        for (let turn = 0; turn < 20; turn += 1) {
          expect(await subject.store.find(id)).toMatchObject({ name: "one" });
          await wait(50);
        }
        return subject.queries() - before;
      },
      (asked) => asked === 0,
    );
  });

  test("are asked for again after a change of this or another server, or by hand", async () => {
    const subject = await open();
    await subject.store.update(id, { name: "two" });
    expect((await subject.store.find(id))?.name).toBe("two");
    await subject.other.disable(id, 5);
    expect(await untilDisabled(subject)).toBe(true);
    await postgres.query("UPDATE parley.keys SET disabled_ms = NULL", new URL(subject.url).pathname.slice(1));
    await until(
      () => isDisabled(subject),
      (disabled) => !disabled,
      1000,
    );
  });

  test("that were not found are asked for each time, so a new key works at once", async () => {
    const subject = await open();
    const fresh = { ...key, id: "bbbbbbbbbbbb" };
    expect(await subject.store.find(fresh.id)).toBeUndefined();
    await subject.other.insert(fresh);
    expect(await subject.store.find(fresh.id)).toMatchObject({ name: "one" });
  });

  test("do not count after a second of a connection that says nothing, and count again when it speaks", async () => {
    let proxy: Awaited<ReturnType<typeof startProxy>> | undefined;
    const subject = await open(async (url) => {
      const { port } = new URL(url);
      proxy = await startProxy(Number(port));
      return url.replace(`:${port}/`, `:${proxy.port}/`);
    });
    onTestFinished(async () => proxy?.[Symbol.asyncDispose]());
    if (proxy) proxy.isSilent = true;
    await subject.other.disable(id, 5);
    expect(await untilDisabled(subject)).toBe(true);
    await until(
      async () => asksFor(subject),
      (asked) => asked,
      1000,
    );
    if (proxy) proxy.isSilent = false;
    await until(
      async () => asksFor(subject),
      (asked) => !asked,
      10_000,
    );
  });

  test("do not count once the connection was lost", async () => {
    const subject = await open();
    const database = new URL(subject.url).pathname.slice(1);
    await postgres.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_is_in_recovery%' AND pid <> pg_backend_pid() AND datname = current_database()",
      database,
    );
    await subject.other.disable(id, 5);
    expect(await untilDisabled(subject)).toBe(true);
  });
});
