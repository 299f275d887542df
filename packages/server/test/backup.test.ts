import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliProcess, chatInit, growDatabase, parley, readLedger } from "@parley/server/testing";
import { backUp } from "../src/state/backup.ts";
import { databaseFile } from "../src/state/database-file.ts";
import { openState } from "../src/state/open-state.ts";
import { useServer } from "./use-server.ts";

const key = "environment-key-0123456789";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-backup-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let folders = 0;
const freshFolder = (): string => join(folder, `data-${(folders += 1)}`);

const start = (dataDir: string): CliProcess =>
  new CliProcess(["start"], {
    cwd: folder,
    env: {
      PARLEY_ENGINE: "scripted",
      PARLEY_DATA_DIR: dataDir,
      PARLEY_API_KEY: key,
      PORT: "0",
      PARLEY_METRICS_PORT: "off",
    },
  });

async function chat(server: CliProcess): Promise<void> {
  const [, base] = await server.says(/Base URL\s+(\S+)/);
  const init = chatInit({}, { headers: { authorization: `Bearer ${key}` } });
  expect((await fetch(`${base}/chat/completions`, init)).status).toBe(200);
}

const run = (dataDir: string, ...args: readonly string[]) => parley([...args, "--data-dir", dataDir], { cwd: folder });

/** Creates a backup with empty tables. */
async function emptyBackup(): Promise<string> {
  const dataDir = freshFolder();
  openState(dataDir)[Symbol.dispose]();
  const file = join(dataDir, "copy.db");
  await backUp(dataDir, file);
  return file;
}

describe("parley backup", () => {
  const server = useServer();
  const backup = (file: string) => parley(["backup", file, "--data-dir", server().dataDir], { cwd: folder });

  test("copies keys and ledger while the server runs, and overwrites nothing", async () => {
    await server().complete();
    const file = join(server().dataDir, "copy.db");
    expect((await backup(file)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file);
    const again = await backup(file);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("exists already") as string });
    expect(readFileSync(file).equals(before)).toBe(true);
    const restored = mkdtempSync(join(server().dataDir, "restored-"));
    renameSync(file, join(restored, "parley.db"));
    expect(await readLedger(restored)).toEqual(await server().ledger());
  });

  test("to a folder that is not there leaves nothing behind", async () => {
    const file = join(server().dataDir, "nowhere", "copy.db");
    expect(await backup(file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no folder") as string,
    });
    expect(existsSync(file)).toBe(false);
  });
});

describe("parley restore", () => {
  test("after a backup, more traffic and a kill, leaves the backup in effect and nothing newer", async () => {
    const dataDir = freshFolder();
    const file = join(folder, "before.db");
    {
      await using server = start(dataDir);
      await chat(server);
      expect((await run(dataDir, "backup", file)).code).toBe(0);
      await chat(server);
      await chat(server);
      server.child.kill("SIGKILL");
    }
    expect(existsSync(`${databaseFile(dataDir)}-wal`)).toBe(true); // a killed server leaves its write-ahead log behind
    const { code, stdout } = await run(dataDir, "restore", file);
    expect(code).toBe(0);
    expect(stdout).toContain(": 0 keys and 1 requests.");
    expect(await readLedger(dataDir)).toHaveLength(1);
    expect(statSync(databaseFile(dataDir)).mode & 0o777).toBe(0o600);
    await using next = start(dataDir);
    await chat(next);
    expect(await readLedger(dataDir)).toHaveLength(2);
    const [, replaced = ""] = /are in (\S+)\. /.exec(stdout) ?? [];
    expect(await readLedger(replaced)).toHaveLength(3);
  });

  test("into a folder that does not exist makes it", async () => {
    const dataDir = freshFolder();
    const { code, stdout } = await run(dataDir, "restore", await emptyBackup());
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining("replaced") as string });
    expect(readdirSync(dataDir).toSorted()).toEqual(["parley.db", "server.lock"]);
  });

  test("beside a running server is refused", async () => {
    const dataDir = freshFolder();
    await using server = start(dataDir);
    await chat(server);
    const { code, stderr } = await run(dataDir, "restore", await emptyBackup());
    expect(stderr).toContain("Another Parley server");
    expect(code).toBe(1);
    await chat(server);
    expect(await readLedger(dataDir)).toHaveLength(2);
  });

  test.each([
    ["no file", async () => join(folder, "nowhere.db"), /^parley: There is no file .*nowhere\.db\. Name one/],
    ["a text", async () => write("text.db", "hello"), /is not a backup of Parley/],
    ["an empty file", async () => write("empty.db", ""), /is not a backup of Parley/],
    ["a backup that was cut", cutBackup, /is damaged|is not a backup/],
    ["a backup of a newer Parley", newerBackup, /was written by a newer Parley/],
  ])("of %s is refused, and what is there stays", async (_what, make, sentence) => {
    const dataDir = freshFolder();
    openState(dataDir)[Symbol.dispose]();
    const before = readFileSync(databaseFile(dataDir));
    const { code, stderr } = await run(dataDir, "restore", await make());
    expect(stderr).toMatch(sentence);
    expect(stderr.split("\n")).toHaveLength(2);
    expect(code).toBe(1);
    expect(readFileSync(databaseFile(dataDir)).equals(before)).toBe(true);
    expect(readdirSync(dataDir).toSorted()).toEqual(["parley.db", "server.lock"]);
  });
});

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function cutBackup(): Promise<string> {
  const file = await emptyBackup();
  writeFileSync(file, readFileSync(file).subarray(0, 8192));
  return file;
}

async function newerBackup(): Promise<string> {
  const file = await emptyBackup();
  using database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 999");
  return file;
}

/** A program that writes to a database all the time, on a connection of its own. */
const busyWriter = `
  const { workerData, parentPort } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(workerData, { timeout: 5000 });
  database.exec("PRAGMA synchronous = OFF");
  const write = database.prepare("INSERT INTO spending (key_id, cost_usd) VALUES (?, '0')");
  let written = 0;
  const next = () => { write.run("busy-" + (written += 1)); if (written === 10) parentPort.postMessage("busy"); setImmediate(next); };
  next();
`;

test("parley backup ends while another connection writes all the time", { timeout: 30_000 }, async () => {
  const dataDir = freshFolder();
  // A copy takes many steps of a hundred pages, and a write follows each of them.
  growDatabase(dataDir, 20_000_000);
  const writer = new Worker(busyWriter, { eval: true, workerData: databaseFile(dataDir) });
  try {
    await new Promise((resolve) => void writer.once("message", resolve));
    const file = join(dataDir, "copy.db");
    expect(await backUp(dataDir, file)).toBeGreaterThan(4000);
    using copy = new DatabaseSync(file);
    expect(copy.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  } finally {
    await writer.terminate();
  }
});
