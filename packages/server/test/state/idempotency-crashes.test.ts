import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  areStoresShared,
  chatInit,
  CliProcess,
  openPostgres,
  play,
  postgresFolder,
  readLedger,
  TestPostgres,
  until,
} from "@parley/server/testing";
import type { LedgerRow } from "@parley/server/testing";
import { toLedgerRow } from "../../testing/ledger-row.ts";
import { priceOf } from "../../src/accounts/money/price.ts";
import { breakLedger } from "../break-state.ts";
import { baseUrlOf, useFolder } from "../use-folder.ts";
import { key, own, send, startWorkers, workersOf } from "../use-workers.ts";

/** Requests with an idempotency key whose server dies: what a repetition gets, and what is charged. */

const folder = useFolder();
const half = { repeat: 30, steps: [{ text: "a" }] };
const script = (): string => join(folder.path(), "gated.json");
const gate = (): string => join(folder.path(), "gate");
beforeAll(() => {
  const gated = [{ role: true }, half, { wait_for: gate() }, half, { finish: "stop" }];
  writeFileSync(script(), JSON.stringify({ scenarios: { gated } }));
});
/** Lets all requests end. Until then, they stop after half of their answer. */
const openGate = (): void => writeFileSync(gate(), "");
const closeGate = (): void => rmSync(gate(), { force: true });
beforeEach(closeGate);

async function start(env: Readonly<Record<string, string>>) {
  const server = new CliProcess(["start"], folder.quick({ PARLEY_API_KEY: key, PARLEY_SCRIPT: script(), ...env }));
  return {
    server,
    url: `${await baseUrlOf(server)}/chat/completions`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  readonly id: string | null;
  readonly retryAfter: string | null;
}

/** Sends a request that waits for the gate, on a connection of its own. */
async function ask(url: string, stream: boolean, name = "one"): Promise<Answer> {
  const headers = { ...own, "idempotency-key": name };
  const response = await send(url, chatInit({ ...play("gated"), stream }, { headers }));
  const { status, headers: got } = response;
  return {
    status,
    text: await response.text(),
    isReplayed: got.get("idempotent-replayed") === "true",
    id: got.get("x-original-request-id") ?? got.get("x-request-id"),
    retryAfter: got.get("retry-after"),
  };
}

/** Expects a whole answer of 60 tokens. */
function expectWhole({ status, text }: Answer, stream: boolean): void {
  expect(status).toBe(200);
  if (stream) expect([text.split('"content":"a"').length - 1, text.endsWith("data: [DONE]\n\n")]).toEqual([60, true]);
  else expect(text).toContain(`"${"a".repeat(60)}"`);
}

/** Expects that the dead request was charged for what had arrived, and that another one was charged once. */
function expectCharges(rows: readonly LedgerRow[], stream: boolean, answer: Answer): void {
  expect(rows.map(({ outcome }) => outcome).toSorted()).toEqual(["abandoned", "complete"]);
  for (const { outcome, id, cost_usd: cost, prices, prompt_tokens: promptTokens, completion_tokens: tokens } of rows) {
    const usage = { cachedTokens: 0, promptTokens, completionTokens: tokens };
    expect(cost).toBe(outcome === "complete" || stream ? priceOf(usage, prices) : "0");
    if (outcome === "complete") expect([id, tokens]).toEqual([answer.id, 60]);
    else expect(tokens).toBeLessThan(60);
  }
}

/** Maximum milliseconds for which a busy machine may delay what is waited for. */
const patienceMs = 20_000;
const modes = [false, true] as const;
const nameOf = (stream: boolean): string => `stream ${stream}`;
/** Sends such a request in both modes. Each is an error if its connection breaks. */
const askBoth = (url: string): Promise<readonly (Answer | Error)[]> =>
  Promise.all(modes.map((stream) => ask(url, stream, nameOf(stream)).catch((error: unknown) => error as Error))); // `fetch` rejects with errors

/** Expects that both modes run once more, and that the answers are kept on all servers. */
async function expectRunsOnce(url: string, others: readonly string[]): Promise<ReadonlyMap<boolean, Answer>> {
  const answers = new Map<boolean, Answer>();
  for (const [index, answer] of (await askBoth(url)).entries()) {
    const stream = modes[index] ?? false;
    if (answer instanceof Error) throw answer;
    expectWhole(answer, stream);
    expect(answer.isReplayed).toBe(false);
    for (const other of others)
      expect(await ask(other, stream, nameOf(stream))).toEqual({ ...answer, isReplayed: true });
    answers.set(stream, answer);
  }
  return answers;
}

const isRunning = ({ outcome, completion_tokens: tokens }: LedgerRow): boolean => outcome === "open" && tokens > 0;
const areRunning = (rows: readonly LedgerRow[]): boolean => rows.filter(isRunning).length === 2;
const areClosed = (rows: readonly LedgerRow[]): boolean => rows.every(({ outcome }) => outcome !== "open");
const ofMode = (rows: readonly LedgerRow[], stream: boolean): readonly LedgerRow[] =>
  rows.filter(({ is_stream: isStream }) => isStream === stream);

describe.skipIf(areStoresShared)("on SQLite", () => {
  test("OPS-19 after kill -9 a repetition runs once, and an answer that was kept comes again and is charged at most once", async () => {
    const dataDir = folder.fresh();
    await using first = await start({ PARLEY_DATA_DIR: dataDir });
    const broken = askBoth(first.url);
    await until(() => readLedger(dataDir), areRunning, patienceMs);
    first.server.child.kill("SIGKILL");
    for (const one of await broken) expect(one).toBeInstanceOf(TypeError);

    openGate();
    await using next = await start({ PARLEY_DATA_DIR: dataDir });
    const answers = await expectRunsOnce(next.url, [next.url]);
    const rows = await readLedger(dataDir);
    for (const [stream, answer] of answers) expectCharges(ofMode(rows, stream), stream, answer);

    closeGate();
    const kept = modes.map((stream) => ask(next.url, stream, `kept ${stream}`));
    await until(() => readLedger(dataDir), areRunning, patienceMs);
    // The server keeps the answers, and dies before it can charge them.
    const mend = breakLedger({ dataDir });
    openGate();
    const whole = await Promise.all(kept);
    next.server.child.kill("SIGKILL");
    await next.server.result();
    mend();
    await using last = await start({ PARLEY_DATA_DIR: dataDir });
    for (const [index, answer] of whole.entries()) {
      const stream = modes[index] ?? false;
      expectWhole(answer, stream);
      expect(await ask(last.url, stream, `kept ${stream}`)).toEqual({ ...answer, isReplayed: true });
      const entries = (await readLedger(dataDir)).slice(4);
      expect(entries).toHaveLength(2);
      expect(entries.find(({ id }) => id === answer.id)).toMatchObject({
        outcome: "abandoned",
        ...(!stream && { cost_usd: "0" }),
      });
    }
  }, 120_000);

  test("after the death of a worker, the requests that it had run once more, and those of the other one do not", async () => {
    const workers = await startWorkers(folder, { PARLEY_SCRIPT: script() });
    await using _server = workers.server;
    const names = Array.from({ length: 8 }, (_, index) => `call ${index}`);
    const asked = names.map((name) => ask(workers.url, true, name).catch(() => undefined));
    await until(
      () => readLedger(workers.dataDir),
      (rows) => rows.filter(({ completion_tokens: tokens }) => tokens > 0).length === 8,
      patienceMs,
    );
    process.kill(workersOf(workers)[0] ?? 0, "SIGKILL");
    openGate();
    const first = await Promise.all(asked);
    const broken = names.filter((_, index) => !first[index]);
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.length).toBeLessThan(8);
    const repeated = await Promise.all(
      names.map((name) =>
        until(
          () => ask(workers.url, true, name),
          ({ status }) => status !== 409,
          patienceMs,
        ),
      ),
    );
    for (const [index, again] of repeated.entries()) {
      expectWhole(again, true);
      expect(again.isReplayed).toBe(first[index] !== undefined);
      if (first[index]) expect(again).toEqual({ ...first[index], isReplayed: true });
    }
    const rows = await until(() => readLedger(workers.dataDir), areClosed, patienceMs);
    expect(rows.filter(({ outcome }) => outcome === "complete")).toHaveLength(8);
    expect(rows.filter(({ outcome }) => outcome === "abandoned")).toHaveLength(broken.length);
  }, 120_000);
});

describe.skipIf(!postgresFolder)("on two servers with one PostgreSQL (this needs `initdb` of PostgreSQL)", () => {
  test("IDEM-02 requests of a server that was killed, or stopped past its lease, run until the lease expires, and then once more", async () => {
    await using postgres = await TestPostgres.start();
    const database = await postgres.createDatabase();
    const env = { PARLEY_DATABASE_URL: postgres.urlOf(database) };
    await using first = await start(env);
    await using second = await start(env);
    await using state = await openPostgres(env.PARLEY_DATABASE_URL);
    const rowsOf = async (): Promise<LedgerRow[]> => (await Array.fromAsync(state.ledger.entries())).map(toLedgerRow);
    /** Lets the lease of the server with running requests expire, as it does 20 s after its last renewal. */
    const expire = async (): Promise<void> => {
      await postgres.query("UPDATE parley.replicas SET kept_since = kept_since - interval '1 minute'", database);
      await postgres.query(
        `UPDATE parley.replicas SET renewed_at = renewed_at - interval '1 minute'
          WHERE id IN (SELECT replica_id FROM parley.idempotency WHERE body IS NULL)`,
        database,
      );
    };
    const broken = askBoth(first.url);
    const dead = await until(rowsOf, areRunning, patienceMs);
    first.server.child.kill("SIGKILL");
    for (const one of await broken) expect(one).toBeInstanceOf(TypeError);
    for (const stream of modes) {
      const early = await ask(second.url, stream, nameOf(stream));
      expect(early).toMatchObject({ status: 409, retryAfter: "1" });
      expect(early.text).toContain(`"request_id":"${ofMode(dead, stream)[0]?.id}"`);
    }
    await expire();
    openGate();
    // The server that starts again is another replica.
    await using restarted = await start(env);
    const answers = await expectRunsOnce(second.url, [restarted.url, second.url]);
    const rows = await until(rowsOf, areClosed, patienceMs);
    for (const [stream, answer] of answers) expectCharges(ofMode(rows, stream), stream, answer);

    closeGate();
    const late = ask(restarted.url, false, "stopped");
    await until(rowsOf, (all) => all.some(isRunning), patienceMs);
    restarted.server.child.kill("SIGSTOP");
    openGate();
    await expire();
    const again = await ask(second.url, false, "stopped");
    expectWhole(again, false);
    await until(rowsOf, areClosed, patienceMs);
    restarted.server.child.kill("SIGCONT");
    expectWhole(await late, false);
    expect((await late).id).not.toBe(again.id);
    for (const { url } of [restarted, second])
      expect(await ask(url, false, "stopped")).toEqual({ ...again, isReplayed: true });
    expectCharges((await rowsOf()).slice(4), false, again);
  }, 120_000);
});
