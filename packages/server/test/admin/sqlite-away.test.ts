import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { areStoresShared } from "@parley/server/testing";
import { explainFault } from "../../src/admin/admin-error.ts";
import { startAdmin } from "./use-admin.ts";

const away = "The database cannot be used at the moment, so the request was not carried out. Try again later.";

// Its server waits for the lock as long as for every other one: five seconds.
test.skipIf(areStoresShared)("a locked database can be read, and changes get 503 and are not made", async () => {
  await using admin = await startAdmin();
  const token = await admin.makeKey(["keys:read", "keys:write"]);
  // The use of the key is written now, and not again in this minute.
  expect((await admin.call(token, "GET", "/self")).status).toBe(200);
  using other = new DatabaseSync(join(admin.server.dataDir, "parley.db"), { timeout: 5000 });
  other.exec("BEGIN IMMEDIATE");
  const reply = await admin.call(token, "POST", "/keys", { name: "never" });
  expect([reply.status, reply.code, reply.message]).toEqual([503, "service_unavailable", away]);
  expect(reply.headers.get("retry-after")).toBe("2");
  expect((await admin.call(token, "GET", "/keys")).body).toEqual({ data: [], next: null });
  other.exec("ROLLBACK");
  expect((await admin.call(token, "GET", "/keys")).body).toEqual({ data: [], next: null });
  expect((await admin.call(token, "POST", "/keys", { name: "later" })).status).toBe(201);
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
