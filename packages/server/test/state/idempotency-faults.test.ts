import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { chatInit, CliProcess, openPostgres, play, postgresFolder, TestPostgres, until } from "@parley/server/testing";
import { readLedger } from "@parley/server/testing";
import { IdempotencyKeys } from "../../src/accounts/idempotency/idempotency-keys.ts";
import type { RequestIdempotency } from "../../src/accounts/idempotency/idempotency-keys.ts";
import { SqliteIdempotencyStore } from "../../src/state/sqlite-idempotency-store.ts";
import { baseUrlOf, useFolder } from "../use-folder.ts";
import { key, own, send } from "../use-workers.ts";
import { DataFolder } from "./data-folder.ts";
import { startProxy } from "./silent-proxy.ts";

/** Idempotency keys whose store is full, broken or away. */

const folder = useFolder();
const claimOf = (name: string) => ({ keyId: "key", idempotencyKey: name, requestId: `req_${name}`, bodyHash: "1" });
const answerOf = (name: string, bytes = 10) => ({
  requestId: `req_${name}`,
  isStream: false,
  ignored: undefined,
  body: new Uint8Array(bytes),
});

/** Opens idempotency keys on a store. The clock stands still until the test sets it. */
function open(store: RequestIdempotency) {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const clock = { ms: 1_000_000 };
  const bounds = { keptMs: 86_400_000, maxAnswers: 100, maxAnswerBytes: 8_388_608 };
  const keys = new IdempotencyKeys({ store, log, nowMs: () => clock.ms, bounds: () => bounds });
  onTestFinished(() => keys[Symbol.asyncDispose]());
  return { keys, clock, lines };
}

const refuseAnswers = `CREATE TRIGGER full BEFORE UPDATE ON idempotency WHEN length(NEW.body) > 100
  BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`;

test("an answer that the store does not take is tried for a minute, then given up, counted and logged", async () => {
  await using data = new DataFolder();
  const database = data.open();
  const store = new SqliteIdempotencyStore(database);
  const { keys, clock, lines } = open(store);
  database.exec(refuseAnswers);
  for (const [name, bytes] of [
    ["large", 1000],
    ["small", 10],
  ] as const) {
    await keys.claim(claimOf(name));
    await keys.keep(claimOf(name), answerOf(name, bytes));
  }
  const again = { ...claimOf("large"), requestId: "req_again" };
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(await keys.claim(again)).toEqual({ kind: "running", requestId: "req_large" });
  clock.ms += 60_000;
  await until(
    () => keys.claim(again),
    ({ kind }) => kind === "claimed",
  );
  expect((await keys.claim(claimOf("small"))).kind).toBe("answered");
  expect(keys.unkept).toEqual({ size: 0, store: 1 });
  const told = lines.filter((line) =>
    line.includes("an answer could not be kept: a request that repeats it runs again"),
  );
  expect(told).toEqual([expect.stringContaining('"request_id":"req_large"')]);
});

test("answers that wait for the store have a bound on their bytes", async () => {
  await using data = new DataFolder();
  const database = data.open();
  const { keys } = open(new SqliteIdempotencyStore(database));
  database.exec(refuseAnswers);
  const mebibytes = 4;
  for (let count = 0; count < 18; count += 1) {
    await keys.claim(claimOf(`${count}`));
    await keys.keep(claimOf(`${count}`), answerOf(`${count}`, mebibytes * 1024 * 1024));
  }
  // 16 of them are 64 MiB. The others are released, so their requests can run again.
  expect(keys.unkept.store).toBe(2);
  await until(
    () => keys.claim({ ...claimOf("17"), requestId: "req_again" }),
    ({ kind }) => kind === "claimed",
  );
  database.exec("DROP TRIGGER full");
  await until(
    () => keys.claim(claimOf("15")),
    ({ kind }) => kind === "answered",
  );
});

test("while the store is away, the claims in doubt have a bound, and all are released when it is back", async () => {
  await using data = new DataFolder();
  const database = data.open();
  const store = new SqliteIdempotencyStore(database);
  let claims = 0;
  const { keys, clock } = open({
    claim: (claim) => {
      claims += 1;
      return store.claim(claim);
    },
    keep: (...kept) => store.keep(...kept),
    release: (claim) => store.release(claim),
  });
  database.exec("ALTER TABLE idempotency RENAME TO hidden");
  for (let count = 0; count < 2000; count += 1)
    await expect(keys.claim(claimOf(`${count}`))).rejects.toMatchObject({ code: "service_unavailable" });
  expect(claims).toBe(500);
  database.exec("ALTER TABLE hidden RENAME TO idempotency");
  // A claim whose answer was lost may still be made a while later.
  clock.ms += 8000;
  await until(
    () => keys.claim(claimOf("0")).catch(() => undefined),
    (outcome) => outcome?.kind === "claimed",
  );
});

test.skipIf(!postgresFolder)(
  "an answer waits two seconds for a PostgreSQL that is silent, and is kept when it speaks again (this needs `initdb`)",
  async () => {
    await using postgres = await TestPostgres.start();
    await using proxy = await startProxy(postgres.port);
    const url = postgres.urlOf(await postgres.createDatabase());
    await using state = await openPostgres(url.replace(`:${postgres.port}`, `:${proxy.port}`));
    const { keys } = open(state.idempotency);
    await keys.claim(claimOf("one"));
    proxy.isSilent = true;
    const began = performance.now();
    await keys.keep(claimOf("one"), answerOf("one"));
    const waitedMs = performance.now() - began;
    expect(waitedMs).toBeGreaterThan(1900);
    expect(waitedMs).toBeLessThan(15_000);
    proxy.isSilent = false;
    await using other = await openPostgres(url);
    await until(
      () => other.idempotency.claim({ ...claimOf("one"), requestId: "req_2", nowMs: 1_000_001, expiresMs: 2_000_000 }),
      ({ kind }) => kind === "answered",
      20_000,
    );
    expect(keys.unkept.store).toBe(0);
  },
  40_000,
);

// Only Linux has `prlimit`.
describe.runIf(process.platform === "linux")("a full disk", () => {
  test.each([false, true])(
    "the answer reaches its caller, and is charged once and kept when there is room again, with stream %s",
    async (stream) => {
      const scenarios = { slow: [{ role: true }, { text: "a" }, { wait_ms: 3000 }, { text: "b" }, { finish: "stop" }] };
      const script = join(folder.path(), "full.json");
      writeFileSync(script, JSON.stringify({ scenarios }));
      const settings = folder.quick({ PARLEY_API_KEY: key, PARLEY_SCRIPT: script });
      const wrapper = ["bash", "-c", 'trap "" XFSZ; exec "$@"', "bash"];
      await using server = new CliProcess(["start"], { ...settings, wrapper });
      const url = `${await baseUrlOf(server)}/chat/completions`;
      const ask = (): Promise<Response> =>
        send(url, chatInit({ ...play("slow"), stream }, { headers: { ...own, "idempotency-key": "one" } }));
      const rowsOf = () => readLedger(settings.env.PARLEY_DATA_DIR);
      const asked = ask();
      await until(rowsOf, ([row]) => (row?.completion_tokens ?? 0) > 0);
      // The soft limit of the file size stands for a full disk. Raising it later stands for freed space.
      execFileSync("prlimit", [`--pid=${server.child.pid}`, "--fsize=1:"]);
      const answer = await asked;
      const text = await answer.text();
      expect([answer.status, text.includes(stream ? "data: [DONE]" : '"ab"')]).toEqual([200, true]);
      const early = await ask();
      expect([409, 503]).toContain(early.status);
      expect(early.headers.get("retry-after")).not.toBeNull();
      expect((await rowsOf()).map(({ outcome }) => outcome)).toEqual(["open"]);
      execFileSync("prlimit", [`--pid=${server.child.pid}`, "--fsize=unlimited:"]);
      const again = await until(ask, ({ status }) => status === 200, 20_000);
      expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", text]);
      const rows = await until(rowsOf, ([row]) => row?.outcome !== "open");
      expect(rows.map(({ outcome }) => outcome)).toEqual(["complete"]);
      expect(server.stdout).toContain("an idempotency key cannot be written: it is tried again every second");
    },
    60_000,
  );
});
