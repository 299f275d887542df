import { mkdirSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parley, play, until, withKey } from "@parley/server/testing";
import { openPostgres, readRegister } from "../../src/state/postgres/open-postgres.ts";
import { useFolder } from "../use-folder.ts";
import { canShare, useReplicas } from "../use-replicas.ts";

const needs = canShare ? "" : " (this needs PostgreSQL and Valkey or Redis)";

describe.skipIf(!canShare)(`three servers on one PostgreSQL and one Valkey${needs}`, () => {
  const folder = useFolder();
  const replicas = useReplicas(3, {
    scenarios: {
      long: [{ repeat: 300, steps: [{ text: "word " }, { wait_ms: 10 }] }, { finish: "stop" }],
      short: [{ text: "word" }, { finish: "stop" }],
    },
  });

  /** Sends requests to the servers in turn. Returns the number of answers with each status. */
  async function race(count: number, token: string): Promise<Record<number, number>> {
    const { servers } = replicas();
    const statuses: Record<number, number> = {};
    await Promise.all(
      Array.from({ length: count }, async (_, turn) => {
        const server = servers[turn % servers.length] ?? servers[0];
        const response = await server.chat({ ...play("short"), max_completion_tokens: 8 }, withKey(token));
        await response.text();
        statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      }),
    );
    return statuses;
  }

  test("a key of one server works on all, and is refused by all once it is disabled", async () => {
    const [first, second, third] = replicas().servers;
    const token = await first.makeKey();
    const statusOf = async (): Promise<number[]> =>
      Promise.all([first, second, third].map(async (server) => (await server!.chat({}, withKey(token))).status)); // three
    expect(await statusOf()).toEqual([200, 200, 200]);
    const key = (await first.running.keys.list()).findLast(({ disabledMs }) => disabledMs === undefined);
    await first.running.keys.disable(key?.id ?? "", Date.now());
    await until(statusOf, (statuses) => statuses.every((status) => status === 401));
  });

  test("a limit of requests a minute is one limit", async () => {
    const token = await replicas().servers[0].makeKey({ requestsPerMinute: 10 });
    expect(await race(30, token)).toEqual({ 200: 10, 429: 20 });
  });

  test("a budget is never passed, and the ledger has what was answered", async () => {
    const token = await replicas().servers[0].makeKey({ name: "budget", budgetUsd: "0.00003" });
    const statuses = await race(60, token);
    const { ledger, keys, ...opened } = await openPostgres(replicas().databaseUrl);
    await using _closed = opened;
    const id = (await keys.list()).find(({ name }) => name === "budget")?.id ?? "";
    const entries = await Array.fromAsync(ledger.entries({ keyId: id }));
    const spent = Number(await ledger.spentUsd(id));
    expect(spent).toBeLessThanOrEqual(0.00003);
    expect(spent).toBeGreaterThan(0);
    expect(entries.filter(({ outcome }) => outcome === "complete")).toHaveLength(statuses[200] ?? 0);
    expect(entries).toHaveLength(statuses[200] ?? 0);
    expect(statuses[402]).toBe(60 - (statuses[200] ?? 0));
  });

  test("OPS-20 a stream ends within a second when its key is disabled on another server", async () => {
    const [first, second] = replicas().servers;
    const token = await first.makeKey({ name: "streaming" });
    const response = await second!.chat({ ...play("long"), stream: true }, withKey(token)); // there are three
    const text = response.text();
    const id = (await first.running.keys.list()).find(({ name }) => name === "streaming")?.id ?? "";
    const disabledMs = performance.now();
    await first.running.keys.disable(id, Date.now());
    expect(await text).toContain("invalid_api_key");
    expect(performance.now() - disabledMs).toBeLessThan(1000);
  });

  test("OPS-18 while Valkey is away, a valid key gets 503 and a wrong one 401; OPS-21 it is answered soon after", async () => {
    const { servers, valkey } = replicas();
    const [server] = servers;
    const token = await server.makeKey();
    await valkey.signal("SIGKILL");
    await until(
      () => server.chat({}, withKey(token)),
      ({ status }) => status === 503,
    );
    const refusal = await server.refuse({}, withKey(token));
    expect(refusal).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await fetch(`${server.origin}/ready`)).status).toBe(503);
    expect((await server.refuse({}, withKey(`${token}x`))).status).toBe(401);
    await valkey.restart();
    await until(
      () => fetch(`${server.origin}/ready`),
      ({ status }) => status === 200,
      5000,
    );
    expect((await server.chat({}, withKey(token))).status).toBe(200);
  }, 60_000);

  test("OPS-18 while PostgreSQL hangs, a key that is in memory gets 503, because its spending cannot be looked up", async () => {
    const { servers, postgres } = replicas();
    const [server] = servers;
    const key = withKey(await server.makeKey({ budgetUsd: "10" }));
    for (let turn = 0; turn < 2; turn += 1) expect((await server.chat({}, key)).status).toBe(200);
    postgres.signal("SIGSTOP");
    try {
      expect(await server.refuse({}, key)).toMatchObject({ status: 503, code: "service_unavailable" });
    } finally {
      postgres.signal("SIGCONT");
    }
    await until(
      () => server.chat({}, key),
      ({ status }) => status === 200,
      5000,
    );
  }, 60_000);

  test("OPS-18 while PostgreSQL is away, a running stream ends whole; OPS-21 requests are answered soon after", async () => {
    const { servers, postgres, databaseUrl } = replicas();
    const [server, other] = servers;
    const token = await server.makeKey({ name: "survivor", budgetUsd: "10", monthlyBudgetUsd: "10" });
    const id = (await server.running.keys.list()).find(({ name }) => name === "survivor")?.id ?? "";
    await until(
      () => fetch(`${other!.origin}/ready`),
      ({ status }) => status === 200,
    );
    const running = await other!.chat({ ...play("long"), stream: true, max_completion_tokens: 300 }, withKey(token));
    expect(running.status).toBe(200);
    await postgres.kill();
    const refusal = await server.refuse({}, withKey(token));
    expect(refusal).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await server.fetch("/models", withKey(token))).status).toBe(503);
    await until(
      () => fetch(`${server.origin}/ready`),
      ({ status }) => status === 503,
    );
    expect(await running.text()).toContain("[DONE]");
    await postgres.start();
    await until(
      () => server.chat({}, withKey(token)),
      ({ status }) => status === 200,
      5000,
    );
    const { ledger, ...opened } = await openPostgres(databaseUrl);
    await using _closed = opened;
    await until(
      () => Array.fromAsync(ledger.entries({ keyId: id, outcome: "complete" })),
      (entries) => entries.length === 2,
      10_000,
    );
  }, 60_000);

  test("a command reads and changes the shared keys, and never shows the password", async () => {
    const { databaseUrl, valkey, servers } = replicas();
    const env = { PARLEY_DATABASE_URL: databaseUrl, PARLEY_VALKEY_URL: valkey.url };
    // The machine of an operator has no data folder yet.
    const cwd = folder.fresh();
    mkdirSync(cwd);
    const made = await parley(["keys", "create", "--name", "by-command", "--json"], { env, cwd });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const { key_file: file } = JSON.parse(made.stdout) as { key_file: string };
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await servers[0].running.keys.list()).map(({ name }) => name)).toContain("by-command");
    const backup = await parley(["backup", "/tmp/none.db"], { env });
    expect(backup).toMatchObject({ code: 1, stderr: expect.stringContaining("pg_dump") as string });
  });
});

describe.skipIf(!canShare)(`doctor on shared state${needs}`, () => {
  const replicas = useReplicas(1, { settings: { requestsPerMinute: 7 } });

  test("says how the servers that run differ from the configuration, which is not a problem", async () => {
    const { databaseUrl, valkey, servers } = replicas();
    const examine = async (url: string, requestsPerMinute: string) => {
      const { stdout, code } = await parley(["doctor", "--json", "--port", "0", "--metrics-port", "off"], {
        env: {
          PARLEY_DATABASE_URL: url,
          PARLEY_VALKEY_URL: valkey.url,
          PARLEY_DATA_DIR: servers[0].dataDir,
          PARLEY_ENGINE: "scripted",
          PARLEY_REQUESTS_PER_MINUTE: requestsPerMinute,
        },
      });
      const findings = JSON.parse(stdout) as readonly Record<"topic" | "seen" | "problem", string>[]; // `doctor` writes it
      return { code, ...findings.find(({ topic }) => topic === "PostgreSQL") };
    };
    expect(await examine(databaseUrl, "7")).toMatchObject({ code: 0, seen: "live servers: 1", problem: "" });
    const differing = await examine(databaseUrl, "8");
    expect(differing).toMatchObject({ code: 0, problem: "" });
    expect(differing.seen).toMatch(/^live servers: 1\. .+ differs: PARLEY_REQUESTS_PER_MINUTE: 8 here, 7 there$/);
    const wrong = await examine(databaseUrl.replace(/:\d+\//, ":1/"), "7");
    expect(wrong).toMatchObject({ code: 1, problem: expect.stringContaining("refuses the connection") as string });
  });

  test("changes nothing in a database without tables", async () => {
    const { postgres } = replicas();
    const database = await postgres.createDatabase();
    expect(await readRegister(postgres.urlOf(database))).toEqual([]);
    expect(await postgres.query("SELECT to_regclass('parley.schema') AS found", database)).toEqual([{ found: null }]);
  });
});

describe.skipIf(!canShare)(`servers on PostgreSQL alone${needs}`, () => {
  const replicas = useReplicas(2, { scenarios: { short: [{ text: "word" }, { finish: "stop" }] } }, "PostgreSQL");

  test("share a limit of requests a minute, also while PostgreSQL was away", async () => {
    const { servers, postgres } = replicas();
    const token = await servers[0].makeKey({ requestsPerMinute: 10 });
    const ask = async (turn: number): Promise<number> => {
      const server = servers[turn % servers.length] ?? servers[0];
      const response = await server.chat({ ...play("short"), max_completion_tokens: 8 }, withKey(token));
      await response.text();
      return response.status;
    };
    const first = await Promise.all(Array.from({ length: 30 }, (_none, turn) => ask(turn)));
    expect(first.filter((status) => status === 200)).toHaveLength(10);
    expect(first.filter((status) => status === 429)).toHaveLength(20);
    await postgres.kill();
    expect(await ask(0)).toBe(503);
    await postgres.start();
    await until(
      () => fetch(`${servers[0].running.url}/ready`),
      ({ status }) => status === 200,
      5000,
    );
    // A crash may lose the last second, but no more: the limit of a minute is still used up for the most part.
    const after = await Promise.all(Array.from({ length: 30 }, (_none, turn) => ask(turn)));
    expect(after.filter((status) => status === 200).length).toBeLessThanOrEqual(10);
    expect(after.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
  }, 30_000);
});

test("Valkey without PostgreSQL is a fault of the configuration", async () => {
  const url = "valkey://:secret@127.0.0.1:1";
  const { code, stderr } = await parley(["config", "check"], { env: { PARLEY_VALKEY_URL: url } });
  expect(code).toBe(2);
  expect(stderr).toContain("PARLEY_DATABASE_URL must be set, too");
  expect(stderr).not.toContain("secret");
});
