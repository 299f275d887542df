import { spawn } from "node:child_process";
import { once } from "node:events";
import { Big } from "big.js";
import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "@parley/server/testing";
import type { CloseRecord, HoldRequest, OpenRecord } from "../../src/accounts/ledger/usage-ledger.ts";
import { closeAbandoned } from "../../src/accounts/ledger/ledger-recorder.ts";
import { affordableTokens, costOf } from "../../src/accounts/money/budgets.ts";
import { migrationLock } from "../../src/state/postgres/migrate.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import type { PostgresState } from "../../src/state/postgres/open-postgres.ts";
import { startProxy } from "./silent-proxy.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";

const none = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const opened = (id: string, keyId = "key"): OpenRecord => ({
  id,
  keyId,
  model: "vendor/model-1",
  isStream: false,
  startedMs: Date.parse("2026-11-15T12:00:00Z"),
  pricing: { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" },
});
const closed = (id: string): CloseRecord => ({
  id,
  keyId: "key",
  usage: none,
  outcome: "abandoned",
  errorCode: undefined,
  costUsd: "0.1",
  endedMs: Date.parse("2026-11-15T12:00:01Z"),
});
/** 0.051 + 2 × 0.1 = 0.251 dollars. */
const bound = { fixedUsd: "0.051", perTokenUsd: "0.1", maxTokens: 2, isMaximumNamed: true };
const holdOf = (budgetUsd: string): HoldRequest => ({ bound, budgets: { budgetUsd, monthlyBudgetUsd: undefined } });

describe.skipIf(!postgresFolder)("PostgreSQL under faults (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function open(url: string, options?: Parameters<typeof openPostgres>[1]): Promise<PostgresState> {
    const state = await openPostgres(url, options);
    onTestFinished(() => state[Symbol.asyncDispose]());
    return state;
  }
  const newUrl = async (): Promise<string> => postgres.urlOf(await postgres.createDatabase());

  test("two servers that race for one budget spend it to the last request that it pays for", async () => {
    const url = await newUrl();
    const states = [await open(url), await open(url)];
    const racing = Array.from({ length: 100 }, (_none, index) =>
      states.map(({ ledger }, server) => ledger.open(opened(`${server}-${index}`), holdOf("25.2"))),
    );
    const all = await Promise.all(racing.flat());
    expect(all.filter((one) => one && "maxTokens" in one)).toHaveLength(100);
    expect(await states[0]?.ledger.open(opened("more"), holdOf("25.2"))).toEqual({ restUsd: "0.1", heldUsd: "25.1" });
  });

  test("requests that wait for each other at the same row see each other's holds", async () => {
    const url = await newUrl();
    const states = [await open(url), await open(url)];
    await states[0]?.ledger.open(opened("first"), holdOf("1"));
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN; SELECT FROM parley.spending FOR UPDATE");
    const ids = Array.from({ length: 10 }, (_none, index) => index);
    const racing = states.flatMap(({ ledger }, server) =>
      ids.map((id) => ledger.open(opened(`${server}-${id}`), holdOf("1"))),
    );
    await until(
      () => postgres.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"),
      // The other calls of each server share its next statement.
      (rows) => rows.length === states.length,
    );
    await holder.end();
    expect((await Promise.all(racing)).filter((one) => one && "maxTokens" in one)).toHaveLength(2);
  });

  test("the function in the database holds what affordableTokens and costOf compute", async () => {
    const { ledger } = await open(await newUrl());
    const usd = fc.tuple(fc.nat(300), fc.nat(20)).map(([digits, scale]) => new Big(`${digits}e-${scale}`).toFixed());
    const bounds = fc.record({
      fixedUsd: usd,
      perTokenUsd: usd,
      maxTokens: fc.integer({ min: 1, max: 200_000 }),
      isMaximumNamed: fc.boolean(),
    });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(bounds, usd, async (one, budgetUsd) => {
        const id = `property-${(count += 1)}`;
        const budgets = { budgetUsd, monthlyBudgetUsd: undefined };
        const tokens = affordableTokens(one, new Big(budgetUsd));
        expect(await ledger.open(opened(id, id), { bound: one, budgets })).toEqual(
          tokens === 0
            ? { restUsd: budgetUsd, heldUsd: "0" }
            : { maxTokens: tokens, heldUsd: costOf(one, tokens).toFixed() },
        );
      }),
      { numRuns: 300 },
    );
  });

  test("of two processes that migrate at once, one does and the other waits; both get the same secret", async () => {
    const url = await newUrl();
    const database = new URL(url).pathname.slice(1);
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock($1)", [migrationLock]);
    const secrets = [runChild(url, printSecret), runChild(url, printSecret)].map(({ output }) => output());
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await until(
      () => postgres.query(waiting),
      (rows) => rows.length === 2,
      15_000,
    );
    expect(await postgres.query("SELECT to_regclass('parley.keys') AS found", database)).toEqual([{ found: null }]);
    await holder.end();
    const [first, second] = await Promise.all(secrets);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
  });

  test("OPS-19 a killed server's entries are abandoned when its lease expires, and charged once by two others", async () => {
    const url = await newUrl();
    const query = (text: string): Promise<unknown> => postgres.query(text, new URL(url).pathname.slice(1));
    const states = [await open(url), await open(url)] as const;
    for (const [index, { ledger }] of states.entries()) await ledger.open(opened(`live-${index}`));
    const child = runChild(
      url,
      `${openEntries(2)} ${checkpointFirst} console.log("opened"); setInterval(() => {}, 1000);`,
    );
    await until(child.soFar, (text) => text === "opened", 15_000);
    child.process.kill("SIGKILL");
    expect(await states[0].ledger.abandoned()).toEqual([]);
    // Its lease expires, as it does 20 s after the last renewal.
    await query("UPDATE parley.replicas SET kept_since = kept_since - interval '1 minute'");
    await query(`UPDATE parley.replicas SET renewed_at = renewed_at - interval '1 minute'
      WHERE id IN (SELECT replica_id FROM parley.requests WHERE id LIKE 'dead-%')`);
    for (const { ledger } of states) {
      const left = await ledger.abandoned();
      expect(left.map(({ id }) => id).toSorted()).toEqual(["dead-0", "dead-1"]);
    }
    await Promise.all(states.map(({ ledger }) => closeAbandoned(ledger, Date.parse("2026-11-15T12:00:01Z"))));
    for (const { ledger } of states) expect(await ledger.abandoned()).toEqual([]);
    // 0.01 × 3 + 0.1 × 2 + 0.001 dollars for the stream that had begun, of the 0.251 dollars held.
    const found = await Promise.all(["dead-0", "dead-1"].map((id) => states[1].ledger.find(id)));
    expect(found.map((entry) => entry?.costUsd)).toEqual(["0.231", "0"]);
    expect(await states[1].ledger.spentUsd("key")).toBe("0.231");
    expect(await states[1].ledger.open(opened("next"), holdOf("0.45"))).toEqual({ restUsd: "0.219", heldUsd: "0" });
  });

  test("a server that ends properly has its open entries abandoned at once", async () => {
    const url = await newUrl();
    const [first, second] = [await openPostgres(url), await open(url)];
    await first.ledger.open(opened("left"));
    expect(await second.ledger.abandoned()).toEqual([]);
    await first[Symbol.asyncDispose]();
    expect(await second.ledger.abandoned()).toMatchObject([{ id: "left" }]);
  });

  test("after an absence of the database, no entry of a live server is abandoned", async () => {
    const url = await newUrl();
    const change = (set: string): Promise<unknown> =>
      postgres.query(`UPDATE parley.replicas SET ${set}`, new URL(url).pathname.slice(1));
    const states = [await open(url), await open(url)] as const;
    for (const [index, { ledger }] of states.entries()) await ledger.open(opened(`live-${index}`));
    // An hour without renewals, for all servers.
    await change("renewed_at = renewed_at - interval '1 hour', kept_since = kept_since - interval '1 hour'");
    for (const { ledger } of states) expect(await ledger.abandoned()).toEqual([]);
    await states[0].ledger.assertWritable();
    expect(await states[0].ledger.abandoned()).toEqual([]);
    // The first server renews for eleven seconds, and the second one does not.
    await change("kept_since = kept_since - interval '11 s'");
    expect(await states[0].ledger.abandoned()).toMatchObject([{ id: "live-1" }]);
    expect(await states[1].ledger.abandoned()).toEqual([]);
  });

  test("a killed database makes every call reject until it is back, and nothing must be opened again", async () => {
    const { keys, ledger } = await open(await newUrl());
    await ledger.open(opened("one"));
    const calls = [
      () => keys.find("aaaaaaaaaaaa"),
      () => keys.list(),
      () => ledger.open(opened("two"), holdOf("1")),
      () => ledger.checkpoint([{ id: "one", usage: none }]),
      () => ledger.close(closed("one")),
      () => ledger.abandoned(),
      () => ledger.assertWritable(),
    ];
    await postgres.kill();
    for (const call of calls) await expect(call()).rejects.toThrow(/terminat|ECONNREFUSED/i);
    await postgres.start();
    for (const call of calls) await call();
    expect(await ledger.spentUsd("key")).toBe("0.1");
  });

  test("a running server is not disturbed by a newer one that adds columns", async () => {
    const url = await newUrl();
    const { keys, ledger } = await open(url);
    const use = async (id: string): Promise<void> => {
      expect(await keys.find("aaaaaaaaaaaa")).toMatchObject({ name: "one" });
      expect(await ledger.open(opened(id), holdOf("9"))).toEqual({ maxTokens: 2, heldUsd: "0.251" });
      await ledger.checkpoint([{ id, usage: none }]);
      await ledger.close(closed(id));
      expect(await ledger.find(id)).toMatchObject({ outcome: "abandoned" });
    };
    await keys.insert({ id: "aaaaaaaaaaaa", hash: "", name: "one", createdMs: 1 });
    await use("before");
    const adding = ["keys", "requests", "spending", "replicas"].map(
      (name) => `ALTER TABLE parley.${name} ADD extra int`,
    );
    await postgres.query(adding.join("; "), new URL(url).pathname.slice(1));
    await use("after");
  });

  test("a statement that waits for too long is ended, and the next one works", async () => {
    const url = await newUrl();
    const { keys } = await open(url, { maxStatementMs: 1000 });
    const locker = new Client({ connectionString: url });
    await locker.connect();
    await locker.query("BEGIN; LOCK TABLE parley.keys IN ACCESS EXCLUSIVE MODE");
    await expect(keys.list()).rejects.toThrow("statement timeout");
    await locker.end();
    expect(await keys.list()).toEqual([]);
  });

  test("an entry whose answer was lost is withdrawn, with its hold", async () => {
    const url = await newUrl();
    await using proxy = await startProxy(postgres.port);
    const { ledger } = await open(url.replace(`:${postgres.port}`, `:${proxy.port}`), {
      maxStatementMs: 1000,
      leaseMs: 2000,
    });
    await ledger.open(opened("one"), holdOf("1"));
    proxy.isSilent = true;
    await expect(ledger.open(opened("lost"), holdOf("1"))).rejects.toThrow("Query read timeout");
    const { ledger: other } = await open(url);
    expect(await other.find("lost")).toMatchObject({ outcome: "open" });
    proxy.isSilent = false;
    await until(
      () => other.find("lost"),
      (entry) => entry === undefined,
    );
    expect(await other.open(opened("more"), holdOf("0.4"))).toEqual({ restUsd: "0.149", heldUsd: "0.251" });
    expect(await other.find("one")).toBeDefined();
  });

  test("an entry whose answer was lost can be opened again at once", async () => {
    const url = await newUrl();
    await using proxy = await startProxy(postgres.port);
    const { ledger } = await open(url.replace(`:${postgres.port}`, `:${proxy.port}`), { maxStatementMs: 1000 });
    await ledger.open(opened("one"), holdOf("1"));
    proxy.isSilent = true;
    await expect(ledger.open(opened("lost"), holdOf("1"))).rejects.toThrow("Query read timeout");
    proxy.isSilent = false;
    expect(await ledger.open(opened("lost"), holdOf("1"))).toEqual({ maxTokens: 2, heldUsd: "0.251" });
    await ledger.assertWritable();
    expect(await ledger.find("lost")).toBeDefined();
  });

  test("a host that accepts connections and says nothing gets a sentence", async () => {
    await using proxy = await startProxy(postgres.port);
    proxy.isSilent = true;
    await expect(openPostgres(`postgres://u:secret@127.0.0.1:${proxy.port}/d`, { maxConnectMs: 200 })).rejects.toThrow(
      `PostgreSQL at 127.0.0.1:${proxy.port} does not answer in time.`,
    );
  });
});

const printSecret = `console.log(Buffer.from(state.cacheSecret).toString("hex")); await state[Symbol.asyncDispose]();`;
const sentUsage = { promptTokens: 3, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 };
const checkpointFirst = `await state.ledger.checkpoint([${JSON.stringify({ id: "dead-0", usage: sentUsage })}]);`;
const openEntries = (count: number): string =>
  `for (let n = 0; n < ${count}; n += 1) await state.ledger.open({ ...${JSON.stringify(opened(""))}, isStream: true, id: "dead-" + n }, ${JSON.stringify(holdOf("5"))});`;

/** Opens the state in another process, and runs a script with it. The process is killed with the test. */
function runChild(url: string, script: string) {
  const module = new URL("../../src/state/postgres/open-postgres.ts", import.meta.url).href;
  const opening = `import { openPostgres } from "${module}"; const state = await openPostgres("${url}");`;
  const process_ = spawn(process.execPath, ["--input-type=module", "-e", opening + script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void process_.kill("SIGKILL"));
  let text = "";
  process_.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  const soFar = (): string => text.trim();
  return {
    process: process_,
    soFar,
    output: async (): Promise<string> => {
      await once(process_, "close");
      return soFar();
    },
  };
}
