import { afterAll, beforeAll, expect, test } from "vitest";
import { hashSecret } from "../../src/accounts/keys/hash-key.ts";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer, Reply } from "./use-admin.ts";

let admin: AdminServer;
let portal: string;
let owner: string;
let team: string;
let child: string;
let other: string;
let stranger: string;

/** Returns the id of a group, of a new key, or of the first key of a page. */
const idIn = (reply: Reply): string => {
  const { id, key, data } = reply.body as { id?: string; key?: { id: string }; data?: { id: string }[] };
  return key?.id ?? id ?? data?.[0]?.id ?? reply.text;
};

beforeAll(async () => {
  admin = await startAdmin();
  portal = await admin.makeKey(["keys:read", "keys:write", "groups:read", "groups:write", "admin-keys:write"]);
  const ceiling = {
    requests_per_minute: 60,
    concurrency: 4,
    weight: 2,
    monthly_budget_usd: "20",
    models: ["vendor/model-1"],
  };
  const group = async (body: object): Promise<string> => idIn(await admin.call(portal, "POST", "/groups", body));
  team = await group({ name: "team", max_keys: 4, key_ceiling: ceiling });
  child = await group({ name: "child", parent_id: team, key_ceiling: { requests_per_minute: 10 } });
  other = await group({ name: "other" });
  stranger = idIn(await admin.call(portal, "POST", "/keys", { name: "stranger", group_id: other }));
  const scopes = [
    "keys:read",
    "keys:write",
    "groups:read",
    "groups:write",
    "admin-keys:read",
    "admin-keys:write",
    "audit:read",
    "audit:prune",
    "usage:read",
    "usage:prune",
  ] as const;
  owner = await admin.makeKey(scopes, { name: "owner", group_id: team });
});
afterAll(() => admin[Symbol.asyncDispose]());

test("an owner's key belongs to its group, and a rule that is left out has the value of the ceiling", async () => {
  const reply = await admin.call(owner, "POST", "/keys", { name: "first", requests_per_minute: 30 });
  expect(reply.status).toBe(201);
  expect(reply.body).toMatchObject({
    token: expect.stringMatching(/^parley_[0-9a-f]{12}\./) as unknown,
    key: {
      group_id: team,
      requests_per_minute: 30,
      concurrency: 4,
      weight: 1,
      monthly_budget_usd: "20",
      models: ["vendor/model-1"],
      tokens_per_minute: null,
    },
  });
});

test("in a group of the group, the tighter ceiling counts for each rule", async () => {
  const reply = await admin.call(owner, "POST", "/keys", { name: "inner", group_id: child });
  expect(reply.body).toMatchObject({ key: { group_id: child, requests_per_minute: 10, concurrency: 4 } });
  const above = await admin.call(owner, "PATCH", `/keys/${idIn(reply)}`, { requests_per_minute: 11 });
  expect([above.status, above.code]).toEqual([403, "above_ceiling"]);
  // Back in the outer group, its own ceiling counts.
  const moved = await admin.call(owner, "PATCH", `/keys/${idIn(reply)}`, { group_id: team, requests_per_minute: 60 });
  expect(moved.body).toMatchObject({ group_id: team, requests_per_minute: 60 });
});

const until = "2999-01-31T00:00:00.000Z";

test("an owner raises the budget of a key up to the ceiling, and withdraws the raise", async () => {
  const { body: page } = await admin.call(owner, "GET", "/keys?name=first");
  const [{ id } = { id: "" }] = (page as { data: { id: string }[] }).data; // a page of keys
  const raise = { usd: "5", until };
  const given = { monthly_budget_usd: "15", budget_raise: raise };
  expect((await admin.call(owner, "PATCH", `/keys/${id}`, given)).body).toMatchObject(given);
  // The budget and its raise count together, whichever of them is changed.
  const above = await admin.call(owner, "PATCH", `/keys/${id}`, { monthly_budget_usd: "15.5" });
  expect([above.code, above.message]).toEqual([
    "above_ceiling",
    "With its raise, monthly_budget_usd is 20.5. The ceiling of the group team is 20.",
  ]);
  const withdrawn = { monthly_budget_usd: "20", budget_raise: null };
  expect((await admin.call(owner, "PATCH", `/keys/${id}`, withdrawn)).body).toMatchObject(withdrawn);
  const [entry] = await admin.audit();
  expect(entry).toMatchObject({
    action: "updateKey",
    actor: { name: "owner" },
    before: { budget_raise: raise },
    after: { budget_raise: null },
  });
});

/** Attempts of an owner to do more than it may. `FIRST` stands for a key of the group. */
const attempts: readonly (readonly [
  title: string,
  method: string,
  path: () => string,
  body: () => object | undefined,
  code: string,
])[] = [
  [
    "more requests than the ceiling",
    "POST",
    () => "/keys",
    () => ({ name: "a", requests_per_minute: 61 }),
    "above_ceiling",
  ],
  [
    "a larger budget than the ceiling",
    "POST",
    () => "/keys",
    () => ({ name: "a", monthly_budget_usd: "20.000001" }),
    "above_ceiling",
  ],
  ["a greater weight than the ceiling", "POST", () => "/keys", () => ({ name: "a", weight: 3 }), "above_ceiling"],
  [
    "a model outside of the ceiling",
    "POST",
    () => "/keys",
    () => ({ name: "a", models: ["vendor/model-1-mini"] }),
    "above_ceiling",
  ],
  ["a change above the ceiling", "PATCH", () => "/keys/FIRST", () => ({ concurrency: 5 }), "above_ceiling"],
  ["a key of another group", "POST", () => "/keys", () => ({ name: "a", group_id: other }), "outside_group"],
  ["to move a key out", "PATCH", () => "/keys/FIRST", () => ({ group_id: other }), "outside_group"],
  ["to take a key out of all groups", "PATCH", () => "/keys/FIRST", () => ({ group_id: null }), "outside_group"],
  ["to see a key of another group", "GET", () => `/keys/${stranger}`, () => undefined, "not_found"],
  ["to change a key of another group", "PATCH", () => `/keys/${stranger}`, () => ({ name: "mine" }), "not_found"],
  ["to rotate a key of another group", "POST", () => `/keys/${stranger}/rotate`, () => ({}), "not_found"],
  ["to delete a key of another group", "DELETE", () => `/keys/${stranger}`, () => undefined, "not_found"],
  [
    "a raise above the ceiling",
    "PATCH",
    () => "/keys/FIRST",
    () => ({ monthly_budget_usd: "15", budget_raise: { usd: "5.01", until } }),
    "above_ceiling",
  ],
  ["to raise its own group", "PATCH", () => `/groups/${team}`, () => ({ budget_usd: "1000000" }), "outside_group"],
  [
    "to raise the ceiling of its own group",
    "PATCH",
    () => `/groups/${team}`,
    () => ({ key_ceiling: null }),
    "outside_group",
  ],
  ["to see another group", "GET", () => `/groups/${other}`, () => undefined, "not_found"],
  ["to create a group", "POST", () => "/groups", () => ({ name: "new" }), "outside_group"],
  [
    "an admin key of another group",
    "POST",
    () => "/admin-keys",
    () => ({ name: "a", scopes: ["keys:read"], group_id: other }),
    "outside_group",
  ],
  ["to prune the ledger", "POST", () => "/usage/prune", () => ({ before: "2020-01-01T00:00:00Z" }), "outside_group"],
  ["to prune the audit log", "POST", () => "/audit/prune", () => ({ before: "2020-01-01T00:00:00Z" }), "outside_group"],
];

test.each(attempts)("an owner cannot get %s, and the attempt is recorded", async (_title, method, path, body, code) => {
  const list = await admin.call(owner, "GET", "/keys?name=first");
  const [{ id } = { id: "" }] = (list.body as { data: { id: string }[] }).data; // a page of keys
  const state = () => admin.local("listKeys", { id: undefined, query: {}, body: undefined });
  const before = await state();
  const reply = await admin.call(owner, method, path().replace("FIRST", id), body());
  expect([reply.code, reply.text]).toEqual([code, expect.any(String)]);
  expect(await state()).toEqual(before);
  if (method === "GET") return;
  const [entry] = await admin.audit();
  expect(entry).toMatchObject({ outcome: "refused", reason: reply.message, actor: { name: "owner" } });
});

test("an owner sees only the keys, groups, usage and audit entries of its group", async () => {
  const namesOf = async (path: string): Promise<unknown[]> =>
    ((await admin.call(owner, "GET", path)).body as { data: { name: string }[] }).data.map(({ name }) => name); // a page
  expect(await namesOf("/keys")).toEqual(["first", "inner"]);
  expect(await namesOf("/groups")).toEqual(["team", "child"]);
  expect(await namesOf("/admin-keys")).toEqual(["owner"]);
  const text = (await admin.call(owner, "GET", "/audit?limit=1000")).text;
  expect(text).toContain("first");
  expect(text).not.toContain("stranger");
});

test("no admin key makes one with a scope that it lacks", async () => {
  const reply = await admin.call(portal, "POST", "/admin-keys", { name: "a", scopes: ["keys:read", "audit:prune"] });
  expect([reply.status, reply.code]).toEqual([403, "missing_scope"]);
  expect(reply.message).toContain("audit:prune");
});

test("max_keys counts the keys of the group and of the groups in it", async () => {
  for (const name of ["third", "fourth"]) await admin.call(owner, "POST", "/keys", { name, group_id: child });
  const reply = await admin.call(owner, "POST", "/keys", { name: "fifth" });
  expect([reply.status, reply.code, reply.message]).toEqual([
    403,
    "above_ceiling",
    "The group team has 4 keys, and max_keys is 4.",
  ]);
});

test("a key moves among the groups of an owner also when max_keys is reached", async () => {
  const third = idIn(await admin.call(owner, "GET", "/keys?name=third"));
  for (const group_id of [team, child]) {
    const reply = await admin.call(owner, "PATCH", `/keys/${third}`, { group_id });
    expect([reply.status, reply.body]).toMatchObject([200, { group_id }]);
  }
});

test("a caller of an identity provider takes no room, and its entry cannot be rotated", async () => {
  const hash = hashSecret("ada of an issuer");
  const ada = { id: hash.slice(0, 12), hash, name: "ada", groupId: child, createdMs: 1 };
  await admin.server.running.keys.insert(ada);
  const fourth = idIn(await admin.call(owner, "GET", "/keys?name=fourth"));
  expect((await admin.call(owner, "DELETE", `/keys/${fourth}`)).status).toBe(204);
  expect((await admin.call(owner, "POST", "/keys", { name: "fourth", group_id: child })).status).toBe(201);
  for (const token of [owner, portal]) {
    const { status, code, message } = await admin.call(token, "POST", `/keys/${ada.id}/rotate`, {});
    expect([status, code, message]).toEqual([400, "invalid_value", expect.stringContaining("no secret to rotate")]);
  }
  expect((await admin.call(owner, "POST", "/keys", { name: "fifth" })).code).toBe("above_ceiling");
});

test("the key of an owner whose group is disabled is refused like a wrong one", async () => {
  await admin.call(portal, "POST", `/groups/${team}/disable`);
  expect((await admin.call(owner, "GET", "/keys")).status).toBe(401);
  await admin.call(portal, "POST", `/groups/${team}/enable`);
  expect((await admin.call(owner, "GET", "/keys")).status).toBe(200);
});
