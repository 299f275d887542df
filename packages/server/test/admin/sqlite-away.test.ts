import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { areStoresShared, say } from "@parley/server/testing";
import { explainFault } from "../../src/admin/admin-error.ts";
import { startAdmin } from "./use-admin.ts";

const away = "The database cannot be used at the moment, so the request was not carried out. Try again later.";

/** Locks the database of a data folder in another process. @returns a function that frees it */
async function lock(dataDir: string): Promise<() => Promise<void>> {
  const script = `
    const database = new (require("node:sqlite").DatabaseSync)(process.argv[1], { timeout: 5000 });
    database.exec("BEGIN IMMEDIATE");
    process.stdout.write("locked");
    process.stdin.resume().on("end", () => database.exec("ROLLBACK"));
  `;
  const child = spawn(process.execPath, ["-e", script, join(dataDir, "parley.db")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return async () => {
    child.stdin.end();
    await once(child, "exit");
  };
}

/** Starts a server and its admin API. The use of the key is written at once, and not again in this minute. */
async function start() {
  const admin = await startAdmin();
  onTestFinished(() => admin[Symbol.asyncDispose]());
  const token = await admin.makeKey(["keys:read", "keys:write"]);
  expect((await admin.call(token, "GET", "/self")).status).toBe(200);
  return { admin, token };
}

describe.skipIf(areStoresShared)("while another process has locked the database", () => {
  test("it can be read, and changes get 503 after 5 seconds and are not made", async () => {
    const { admin, token } = await start();
    const free = await lock(admin.server.dataDir);
    const [reply, other] = await Promise.all([
      admin.call(token, "POST", "/keys", { name: "never" }),
      admin.call(token, "POST", "/keys", { name: "never, either" }),
    ]);
    expect([reply.status, reply.code, reply.message]).toEqual([503, "service_unavailable", away]);
    expect([reply.headers.get("retry-after"), other.status]).toEqual(["2", 503]);
    expect((await admin.call(token, "GET", "/keys")).body).toEqual({ data: [], next: null });
    await free();
    expect((await admin.call(token, "GET", "/keys")).body).toEqual({ data: [], next: null });
    expect((await admin.call(token, "POST", "/keys", { name: "later" })).status).toBe(201);
  });

  test("changes and chats wait without holding up other requests, and go on when it is free", async () => {
    const { admin, token } = await start();
    const free = await lock(admin.server.dataDir);
    const settled: string[] = [];
    const note = async <T>(name: string, work: Promise<T>): Promise<T> => {
      const result = await work;
      settled.push(name);
      return result;
    };
    const change = note("change", admin.call(token, "POST", "/keys", { name: "soon" }));
    const chat = note("chat", admin.server.chat(say("a")));
    // Both have begun to wait before other requests are sent.
    await nextTurn();
    for (const path of ["/models", "/models", "/models"]) expect((await admin.server.fetch(path)).status).toBe(200);
    expect((await admin.call(token, "GET", "/keys")).status).toBe(200);
    expect(settled).toEqual([]);
    await free();
    expect([(await change).status, (await chat).status]).toEqual([201, 200]);
  });
});

/** Returns the error of a statement that must fail. */
function failureOf(database: DatabaseSync, statement: string): unknown {
  try {
    database.exec(statement);
  } catch (error) {
    return error;
  }
  throw new Error("the statement has not failed");
}

test("a full and a read-only database are away, and a broken rule of a table is a fault", () => {
  using database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE one (id INTEGER PRIMARY KEY, body BLOB); PRAGMA max_page_count = 3");
  const fill = "INSERT INTO one (body) VALUES (zeroblob(100000))";
  expect(explainFault(failureOf(database, fill))).toMatchObject({ code: "service_unavailable", message: away });
  database.exec("INSERT INTO one VALUES (1, NULL)");
  const double = failureOf(database, "INSERT INTO one VALUES (1, NULL)");
  expect(explainFault(double)).toMatchObject({ code: "internal_error" });
  database.exec("PRAGMA query_only = ON");
  expect(explainFault(failureOf(database, fill))).toMatchObject({ code: "service_unavailable" });
});
