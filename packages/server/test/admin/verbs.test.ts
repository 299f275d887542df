import { afterAll, beforeAll, expect, test } from "vitest";
import { parley } from "@parley/server/testing";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer, AuditEntry } from "./use-admin.ts";

/**
 * Each verb of the commands does the same as the admin API: one server gets the requests, one the commands on its data folder,
 * and one the commands over HTTP. State and audit log are equal after each step.
 */

interface Subject {
  readonly admin: AdminServer;
  readonly token: string;
  readonly env: Record<string, string>;
  /** Ids by the name in the table, such as KEY. */
  readonly ids: Map<string, string>;
}

let subjects: readonly (Subject & { readonly by: "request" | "command" })[];

beforeAll(async () => {
  subjects = await Promise.all((["request", "command", "command over HTTP"] as const).map(start));
}, 60_000);
afterAll(async () => {
  for (const { admin } of subjects) await admin[Symbol.asyncDispose]();
});

const scopes = [
  "keys:read",
  "keys:write",
  "groups:read",
  "groups:write",
  "audit:read",
  "audit:prune",
  "admin-keys:read",
  "admin-keys:write",
  "usage:prune",
  "usage:read",
] as const;

async function start(way: "request" | "command" | "command over HTTP"): Promise<(typeof subjects)[number]> {
  const admin = await startAdmin();
  const token = await admin.makeKey(scopes, { name: "operator" });
  const group = await admin.local("createGroup", { id: undefined, query: {}, body: { name: "team" } });
  const remote = { PARLEY_ADMIN_URL: String(admin.server.running.adminUrl), PARLEY_ADMIN_KEY: token };
  const env = {
    PARLEY_DATA_DIR: admin.server.dataDir,
    PARLEY_ENGINE: "scripted",
    ...(way === "command over HTTP" ? remote : {}),
  };
  return { admin, token, env, ids: new Map([["GROUP", group.id]]), by: way === "request" ? "request" : "command" };
}

/** A verb in both forms. KEY, ADMIN and GROUP stand for ids; the first creation of each defines them. */
const verbs: readonly (readonly [method: string, path: string, body: object | undefined, command: string])[] = [
  [
    "POST",
    "/keys",
    { name: "search", requests_per_minute: 60, budget_usd: "5", models: ["model-1"] },
    "keys create --name search --requests-per-minute 60 --budget-usd 5 --models model-1",
  ],
  [
    "PATCH",
    "/keys/KEY",
    { concurrency: 3, weight: 2, requests_per_minute: null },
    "keys update KEY --concurrency 3 --weight 2 --requests-per-minute none",
  ],
  [
    "PATCH",
    "/keys/KEY",
    { models: null, expires: "2999-01-31T00:00:00Z" },
    "keys update KEY --models all --expires 2999-01-31",
  ],
  [
    "PATCH",
    "/keys/KEY",
    { budget_raise: { usd: "2.5", until: "2999-01-31T12:00:00Z" } },
    "keys update KEY --raise-usd 2.5 --raise-until 2999-01-31T12:00",
  ],
  ["PATCH", "/keys/KEY", { budget_raise: null }, "keys update KEY --raise-usd none"],
  ["PATCH", "/keys/KEY", { models: ["model-9"] }, "keys update KEY --models model-9"],
  ["POST", "/keys/KEY/rotate", {}, "keys rotate KEY"],
  ["POST", "/keys/KEY/disable", undefined, "keys disable KEY"],
  ["POST", "/keys/KEY/enable", undefined, "keys enable KEY"],
  ["DELETE", "/keys/KEY", undefined, "keys delete KEY"],
  [
    "POST",
    "/admin-keys",
    { name: "owner", scopes: ["keys:read", "keys:write"], group_id: "GROUP" },
    "admin-keys create --name owner --scopes keys:write,keys:read --group team",
  ],
  ["POST", "/admin-keys/ADMIN/disable", undefined, "admin-keys disable ADMIN"],
  ["POST", "/admin-keys/ADMIN/enable", undefined, "admin-keys enable ADMIN"],
  ["DELETE", "/admin-keys/ADMIN", undefined, "admin-keys delete ADMIN"],
  [
    "POST",
    "/groups",
    { name: "inner", parent_id: "GROUP", max_keys: 3, key_ceiling: { weight: 2 } },
    "groups create --name inner --parent team --max-keys 3 --key-weight 2",
  ],
  [
    "PATCH",
    "/groups/INNER",
    { budget_usd: "7", period: "month", time_zone: "UTC" },
    "groups update INNER --budget-usd 7 --period month --time-zone UTC",
  ],
  [
    "PATCH",
    "/groups/INNER",
    { budget_raise: { usd: "3", until: "2999-01-31T00:00:00Z" } },
    "groups update INNER --raise-usd 3 --raise-until 2999-01-31",
  ],
  ["PATCH", "/groups/INNER", { budget_usd: null }, "groups update INNER --budget-usd none"],
  [
    "PATCH",
    "/groups/INNER",
    { budget_raise: { usd: "3", until: "2999-01-31T00:00:00Z" } },
    "groups update INNER --raise-usd 3 --raise-until 2999-01-31",
  ],
  ["PATCH", "/groups/INNER", { time_zone: "Moon/Base" }, "groups update INNER --time-zone Moon/Base"],
  ["POST", "/groups/INNER/disable", undefined, "groups disable INNER"],
  ["POST", "/groups/INNER/enable", undefined, "groups enable INNER"],
  ["DELETE", "/groups/INNER", undefined, "groups delete INNER"],
  ["POST", "/usage/prune", { before: "2020-01-01T00:00:00Z" }, "usage prune --before 2020-01-01"],
  ["POST", "/audit/prune", { before: "2020-01-01T00:00:00Z" }, "audit prune --before 2020-01-01"],
];

test.each(verbs)("%s %s %j does the same as its command", async (method, path, body, command) => {
  const outcomes = [];
  for (const subject of subjects) outcomes.push(await use(subject, { method, path, body, command }));
  const [first, ...others] = outcomes;
  expect(first?.entry.action).toMatch(/^\w+(Key|Group|Audit|Usage)$/);
  for (const other of others) expect(other).toEqual(first);
});

async function use(
  subject: (typeof subjects)[number],
  verb: { method: string; path: string; body: object | undefined; command: string },
) {
  const { admin, token, env, ids, by } = subject;
  const filled = (text: string): string => [...ids].reduce((all, [name, id]) => all.replaceAll(name, id), text);
  const entries = (await admin.audit()).length;
  if (by === "request") {
    const body = verb.body && filled(JSON.stringify(verb.body));
    await admin.call(token, verb.method, filled(verb.path), body);
  } else await parley(filled(verb.command).split(" "), { env });
  const [entry, ...earlier] = await admin.audit();
  expect([verb.command, by, earlier.length]).toEqual([verb.command, by, entries]);
  const target = entry?.target.id;
  if (verb.method === "POST" && target)
    ids.set({ "/keys": "KEY", "/admin-keys": "ADMIN", "/groups": "INNER" }[verb.path] ?? "OTHER", target);
  const state = [
    await admin.local("listKeys", { id: undefined, query: {}, body: undefined }),
    await admin.local("listGroups", { id: undefined, query: {}, body: undefined }),
    await admin.local("listAdminKeys", { id: undefined, query: {}, body: undefined }),
  ];
  return { entry: comparable(entry), state: masked(state) };
}

/** Removes what differs between two servers and two ways: ids, times, and who did it from where. */
const masked = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/(grp_)?[0-9a-f]{12}/g, "ID")
      .replaceAll(/"(created|disabled|last_used|at|resets_at)":"[^"]*"/g, '"$1":"TIME"')
      .replaceAll(/"last_used":null/g, '"last_used":"TIME"'),
  ) as unknown;

const comparable = (entry: AuditEntry | undefined): AuditEntry => {
  const { actor: _who, from: _where, id: _number, ...rest } = entry ?? ({} as AuditEntry); // an absent entry equals no other
  return masked(rest) as AuditEntry;
};

test("the log has who used the command, and from where", async () => {
  const [, local, remote] = subjects;
  const [entry] = (await local?.admin.audit()) ?? [];
  expect(entry).toMatchObject({
    actor: { kind: "user", id: null },
    from: { agent: expect.stringMatching(/^parley\//) as unknown },
  });
  const [over] = (await remote?.admin.audit()) ?? [];
  expect(over).toMatchObject({ actor: { kind: "admin_key", name: "operator" } });
});

test("`parley audit --json` and the export write the same lines", async () => {
  const [request, local] = subjects;
  if (!request || !local) throw new Error("there are three subjects");
  const { stdout } = await parley(["audit", "--json"], { env: local.env });
  const command = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
  expect(command).toEqual(await local.admin.audit());
  const reply = await request.admin.call(request.token, "GET", "/audit/export?outcome=refused");
  expect(reply.headers.get("content-type")).toMatch(/^application\/x-ndjson/);
  const exported = reply.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
  expect(exported).toEqual((await request.admin.audit()).filter(({ outcome }) => outcome === "refused"));
  expect(exported.length).toBeGreaterThan(0);
});

test("`parley audit --limit` prints only the newest entries, also over HTTP", async () => {
  for (const { admin, env } of subjects.slice(1)) {
    const { stdout } = await parley(["audit", "--limit", "2", "--json"], { env });
    const printed = stdout.trim().split("\n");
    expect(printed.map((line) => JSON.parse(line) as AuditEntry)).toEqual((await admin.audit()).slice(0, 2));
  }
});

test("no entry contains a secret or a hash", async () => {
  for (const { admin } of subjects)
    expect(JSON.stringify(await admin.audit())).not.toMatch(/parley_|[0-9a-f]{64}|[\w-]{43}/);
});
