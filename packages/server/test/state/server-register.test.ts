import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "@parley/server/testing";
import type { ServerEntry, ServerFacts } from "../../src/accounts/servers/server-register.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import type { PostgresState } from "../../src/state/postgres/open-postgres.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";

const factsOf = (prompt: string): ServerFacts => ({
  offers: { "vendor/model-1": { "pricing.prompt": prompt } },
  engines: {},
});
const entryOf = (name: string, prompt = "0.1"): ServerEntry => ({
  name,
  version: "1.0.0",
  facts: () => factsOf(prompt),
});
const request = {
  keyId: "key",
  model: "vendor/model-1",
  isStream: false,
  startedMs: 0,
  pricing: { prompt: "0", completion: "0", image: "0", request: "0" },
} as const;

describe.skipIf(!postgresFolder)("the register of servers (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function open(url: string, leaseMs?: number): Promise<PostgresState> {
    const state = await openPostgres(url, leaseMs === undefined ? {} : { leaseMs });
    onTestFinished(() => state[Symbol.asyncDispose]());
    return state;
  }
  const newUrl = async (): Promise<string> => postgres.urlOf(await postgres.createDatabase());
  const databaseOf = (url: string): string => new URL(url).pathname.slice(1);
  const namesOf = ({ register }: PostgresState): string[] => register.live.map(({ name }) => name);

  test("servers that come and go are seen by all, in the same order", async () => {
    const url = await newUrl();
    const [first, second, third] = [await open(url, 2000), await open(url, 2000), await openPostgres(url)];
    await first.register.enter(entryOf("first"));
    expect(namesOf(first)).toEqual(["first"]);
    await second.register.enter(entryOf("second", "0.2"));
    await third.register.enter(entryOf("third"));
    const wanted = namesOf(third);
    expect(wanted.toSorted()).toEqual(["first", "second", "third"]);
    for (const state of [first, second]) {
      await until(
        () => namesOf(state),
        ({ length }) => length === 3,
      );
      expect(namesOf(state)).toEqual(wanted);
      for (const { name, facts } of state.register.live)
        expect(facts).toEqual(factsOf(name === "second" ? "0.2" : "0.1"));
      expect(state.register.live.map(({ id }) => id)).toContain(state.register.ownId);
    }
    await third[Symbol.asyncDispose]();
    await until(
      () => namesOf(first),
      ({ length }) => length === 2,
    );
  });

  test("facts that become known later are seen", async () => {
    const url = await newUrl();
    const [first, second] = [await open(url, 1500), await open(url, 1500)];
    let prompt = "1";
    await first.register.enter({ ...entryOf("first"), facts: () => factsOf(prompt) });
    await second.register.enter(entryOf("second", "3"));
    expect(second.register.live[0]?.facts).toEqual(factsOf("1"));
    prompt = "2";
    await until(
      () => second.register.live[0]?.facts.offers["vendor/model-1"]?.["pricing.prompt"],
      (shown) => shown === "2",
    );
  });

  test("a command that only opens the state is not in the register", async () => {
    const url = await newUrl();
    const [server, command] = [await open(url), await open(url)];
    await command.ledger.assertWritable();
    await server.register.enter(entryOf("server"));
    expect(namesOf(server)).toEqual(["server"]);
  });

  test("a dead server leaves when its lease has expired, and its row when its entries are closed", async () => {
    const url = await newUrl();
    const query = (text: string): Promise<unknown> => postgres.query(text, databaseOf(url));
    const live = await open(url, 1500);
    await query(
      `INSERT INTO parley.replicas (id, name, version, started_at, digest, facts, renewed_at)
       VALUES (gen_random_uuid(), 'dead', '1.0.0', now() - interval '1 h', '', '{}', now() - interval '1 h');
       INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, prices, held_usd, replica_id)
       SELECT 'left', 'key', 'model', false, 0, '{}', 0, id FROM parley.replicas`,
    );
    await live.register.enter(entryOf("live"));
    // Perhaps the database was away, so the other server gets half of the lease to renew its own.
    expect(namesOf(live)).toEqual(["dead", "live"]);
    await until(
      () => namesOf(live),
      ({ length }) => length === 1,
    );
    expect(await query("SELECT name FROM parley.replicas ORDER BY name")).toEqual([{ name: "dead" }, { name: "live" }]);
    expect(await live.ledger.abandoned()).toMatchObject([{ id: "left" }]);
    await live.ledger.withdraw("left");
    await until(
      () => query("SELECT name FROM parley.replicas"),
      (rows) => JSON.stringify(rows) === JSON.stringify([{ name: "live" }]),
    );
  });

  test("while the database is away the last known servers stay, and afterwards none is lost", async () => {
    const own = await TestPostgres.start();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const url = own.urlOf(await own.createDatabase());
    const states = [await open(url, 2000), await open(url, 2000)];
    for (const [index, { register }] of states.entries()) await register.enter(entryOf(`${index}`));
    let reads = 0;
    const counts = new Set<number>();
    states[0]?.register.onRead(() => {
      reads += 1;
      counts.add(states[0]?.register.live.length ?? 0);
    });
    await until(
      () => reads,
      (count) => count >= 2,
    );
    const killedMs = performance.now();
    await own.kill();
    await until(
      () => performance.now() - killedMs,
      (ms) => ms > 2200, // the leases expire
    );
    expect(states[0]?.register.live).toHaveLength(2);
    await own.start();
    const before = reads;
    await until(
      () => reads,
      (count) => count >= before + 5,
    );
    expect(counts).toEqual(new Set([2]));
  }, 30_000);

  test("a server that was paused for longer than its lease is in the register again", async () => {
    const url = await newUrl();
    const state = await open(url, 1500);
    await state.register.enter(entryOf("paused"));
    await state.ledger.open({ ...request, id: "one" });
    await postgres.query("DELETE FROM parley.replicas", databaseOf(url));
    await until(
      () => postgres.query("SELECT name FROM parley.replicas", databaseOf(url)),
      (rows) => rows.length === 1,
    );
    expect(namesOf(state)).toEqual(["paused"]);
  });
});
