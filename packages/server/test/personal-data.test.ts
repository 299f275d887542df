import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { chatInit, CliProcess, play, postgresFolder, TestPostgres, until } from "@parley/server/testing";
import { openCollector } from "./use-collector.ts";
import { baseUrlOf, useFolder } from "./use-folder.ts";

/**
 * Some members of a request tell who its user is. They are stored nowhere: not in the database, the log, the metrics or the traces.
 * So there is nothing that a deletion rule could delete.
 */

const folder = useFolder();
const apiKey = "secret-of-the-environment";
const personal = {
  user: "mark-of-user",
  metadata: { "mark-of-name": "mark-of-value", session: "mark-of-session" },
  safety_identifier: "mark-of-safety",
  prompt_cache_key: "mark-of-cache",
};
const mark = /mark-of-\w+/g;

/** Returns the texts of all files in a folder, at any depth, with their names. */
const filesIn = (path: string): string =>
  readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), "latin1")}`)
    .join("\n");

/** Sends requests with personal data that end in every way. @returns the texts of the answers that are kept */
async function sendAll(base: string): Promise<string[]> {
  const send = async (body: object, headers: Record<string, string> = {}, key = apiKey) => {
    const init = { headers: { authorization: `Bearer ${key}`, ...headers } };
    const response = await fetch(`${base}/chat/completions`, chatInit({ ...personal, ...body }, init));
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const once = { "idempotency-key": "once" };
  expect((await send(play("short"))).status).toBe(200);
  expect((await send({ ...play("short"), stream: true })).status).toBe(200);
  const kept = [await send(play("short"), once), await send(play("short"), once)];
  expect(kept[1]?.headers.get("idempotent-replayed")).toBe("true");
  expect((await send(play("short"), { "idempotency-key": "streamed" })).status).toBe(200);
  expect((await send({ ...play("short"), user: "mark-of-other" }, once)).status).toBe(422);
  expect((await send({ metadata: { "mark-of-name": 1 } })).status).toBe(400);
  expect((await send({ model: "mark-of-model" })).status).toBe(404);
  expect((await send(play("short"), {}, "wrong")).status).toBe(401);
  expect((await send(play("broken"))).status).toBe(502);
  return kept.map(({ text }) => text);
}

/** Runs a server with every record that it can write. @returns all of them, and what its database holds after its end */
async function recordsOf(more: Record<string, string>, readDatabase: (dataDir: string) => string): Promise<string> {
  const script = join(folder.path(), "script.json");
  const scenarios = { short: [{ text: "Hello" }, { finish: "stop" }], broken: [{ text: "a" }, { fail: "crash" }] };
  writeFileSync(script, JSON.stringify({ scenarios }));
  const closing: (() => unknown)[] = [];
  onTestFinished(() => closing.forEach((close) => close()));
  const collector = await openCollector(closing);
  const settings = folder.quick({
    PARLEY_SCRIPT: script,
    PARLEY_API_KEY: apiKey,
    PARLEY_LOG_LEVEL: "debug",
    PARLEY_LOG_FORMAT: "json",
    PARLEY_METRICS_KEYS: "10",
    PARLEY_OTLP_ENDPOINT: collector.url,
    ...more,
  });
  await using server = new CliProcess(["start"], settings);
  const base = await baseUrlOf(server);
  const kept = await sendAll(base);
  const [, metricsUrl = ""] = await server.says(/Metrics\s+(\S+)/);
  const metrics = await (await fetch(metricsUrl)).text();
  await until(
    () => collector.spans(),
    ({ length }) => length > 0,
  );
  server.child.kill("SIGTERM");
  const { stdout, stderr } = await server.result();
  const traces = JSON.stringify(collector.payloads);
  const records = { database: readDatabase(settings.env.PARLEY_DATA_DIR), stdout, metrics, traces };
  // Each of the records is there.
  expect(records.database).toContain("req_");
  expect(stdout).toContain("idempotency_key_reused");
  expect(metrics).toContain('parley_key_requests_total{key_id="environment"');
  expect(traces).toContain("chat vendor/model-1");
  return [...Object.values(records), stderr, ...kept].join("\n");
}

test("the members that tell who a user is are not in the data folder, the log, the metrics or the traces", async () => {
  const records = await recordsOf({}, filesIn);
  expect(new Set(records.match(mark))).toEqual(new Set());
});

describe.skipIf(!postgresFolder)("on PostgreSQL (this needs `initdb`)", () => {
  let postgres: TestPostgres | undefined;
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  test("they are in no table", async () => {
    postgres = await TestPostgres.start();
    const url = postgres.urlOf(await postgres.createDatabase());
    const dump = (dataDir: string): string =>
      execFileSync(join(postgresFolder ?? "", "pg_dump"), ["--inserts", url], { encoding: "utf8" }) + filesIn(dataDir);
    const records = await recordsOf({ PARLEY_DATABASE_URL: url }, dump);
    expect(new Set(records.match(mark))).toEqual(new Set());
  });
});
