import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { expect, test } from "vitest";
import { CliProcess, parley } from "@parley/server/testing";
import { storesOf } from "../../testing/shared-stores.ts";
import { startAdmin } from "./use-admin.ts";
import { baseUrlOf, useFolder } from "../use-folder.ts";

const folder = useFolder();

/** Makes the audit log refuse new entries. @returns a function that ends this */
async function fillAuditLog(dataDir: string): Promise<() => Promise<void>> {
  const stores = storesOf(dataDir);
  if (!stores) {
    using database = new DatabaseSync(join(dataDir, "parley.db"));
    database.exec("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'the log is full'); END");
    return async () => {
      using again = new DatabaseSync(join(dataDir, "parley.db"));
      again.exec("DROP TRIGGER full");
    };
  }
  const query = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: stores.databaseUrl });
    try {
      await client.connect();
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the log is full'; END $$;
    CREATE TRIGGER full_log BEFORE INSERT ON parley.audit FOR EACH ROW EXECUTE FUNCTION refuse()`);
  return () => query("DROP TRIGGER full_log ON parley.audit");
}

test("a change without a record cannot happen", async () => {
  await using admin = await startAdmin();
  const token = await admin.makeKey(["keys:read", "keys:write", "groups:write"]);
  const { key } = await admin.local("createKey", { id: undefined, query: {}, body: { name: "kept" } });
  const state = () => admin.local("listKeys", { id: undefined, query: {}, body: undefined });
  const before = await state();
  const empty = await fillAuditLog(admin.server.dataDir);
  const changes = [
    ["POST", "/keys", { name: "new" }],
    ["PATCH", `/keys/${key.id}`, { name: "other" }],
    ["POST", `/keys/${key.id}/rotate`, {}],
    ["POST", `/keys/${key.id}/disable`, undefined],
    ["DELETE", `/keys/${key.id}`, undefined],
    ["POST", "/groups", { name: "new" }],
  ] as const;
  for (const [method, path, body] of changes) {
    const reply = await admin.call(token, method, path, body);
    expect([path, reply.status, reply.code]).toEqual([path, 500, "internal_error"]);
    expect(reply.text).not.toContain("full");
  }
  expect(await state()).toEqual(before);
  const command = await parley(["keys", "disable", key.id], { env: { PARLEY_DATA_DIR: admin.server.dataDir } });
  expect([command.code, command.stderr]).toEqual([1, expect.stringContaining("the log is full")]);
  expect(await state()).toEqual(before);
  await empty();
  expect((await admin.call(token, "POST", `/keys/${key.id}/disable`)).status).toBe(200);
});

test("with several workers, the parent serves the admin API, and the workers see a change at once", async () => {
  const settings = folder.quick({ PARLEY_ADMIN_PORT: "0" });
  await using server = new CliProcess(["start", "--workers", "2"], settings);
  const base = await baseUrlOf(server);
  const [, url = ""] = await server.says(/Admin API\s+(\S+)/);
  const made = await parley(["admin-keys", "create", "--name", "portal", "--scopes", "keys:write", "--json"], settings);
  const { key_file: file } = JSON.parse(made.stdout) as { key_file: string }; // the command prints it
  const headers = { authorization: `Bearer ${readFileSync(file, "utf8").trim()}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "of the portal" });
  const reply = (await (await fetch(`${url}/keys`, { method: "POST", headers, body })).json()) as {
    key: { id: string };
    token: string;
  };
  const own = { headers: { authorization: `Bearer ${reply.token}`, connection: "close" } };
  const statuses = async () => [
    (await fetch(`${base}/models`, own)).status,
    (await fetch(`${base}/models`, own)).status,
  ];
  expect(await statuses()).toEqual([200, 200]);
  await fetch(`${url}/keys/${reply.key.id}/disable`, { method: "POST", headers });
  expect(await statuses()).toEqual([401, 401]);
});

test("without its setting, a server has no admin port and loads nothing for it", async () => {
  const settings = folder.quick();
  await using server = new CliProcess(["start"], settings);
  const base = await baseUrlOf(server);
  await server.says(/Try it/);
  expect(server.stderr).not.toContain("Admin API");
  expect((await fetch(new URL("/admin/v1/self", base))).status).toBe(404);
});
