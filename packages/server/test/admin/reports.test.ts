import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { components } from "@parley/contract/admin-types";
import { afterAll, beforeAll, expect, test } from "vitest";
import { miniId, parley, play, until, withKey } from "@parley/server/testing";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer } from "./use-admin.ts";

/** Commands that change nothing print the same on the data folder and over HTTP. */

const none = { id: undefined, query: {}, body: undefined };
let admin: AdminServer;
let token: string;
let requestId: string;
/** The environment of a command on the data folder, and over HTTP. */
let local: Record<string, string>;
let remote: Record<string, string>;

beforeAll(async () => {
  admin = await startAdmin({
    scenarios: { seven: [{ text: "a", tokens: 7 }, { finish: "stop" }], broken: [{ fail: "nothing at all" }] },
  });
  token = await admin.makeKey([
    "keys:read",
    "groups:read",
    "admin-keys:read",
    "usage:read",
    "usage:prune",
    "audit:read",
  ]);
  const { server } = admin;
  const group = await admin.local("createGroup", { ...none, body: { name: "team" } });
  const make = (name: string, more: object = {}) => admin.local("createKey", { ...none, body: { name, ...more } });
  const [search, gone] = [await make("search", { group_id: group.id }), await make("gone")];
  for (const name of ["twice", "twice"]) await make(name);
  const answer = await server.chat(play("seven"), withKey(search.token));
  requestId = answer.headers.get("x-request-id") ?? "";
  await answer.text();
  await server.complete({ model: miniId, ...play("seven") }, withKey(gone.token));
  await (await server.chat(play("broken"), withKey(search.token))).text();
  await admin.local("deleteKey", { ...none, id: gone.key.id });
  await until(
    () => server.ledger(),
    (rows) => rows.length === 3 && rows.every(({ ended_ms: ended }) => ended !== null),
  );
  local = { PARLEY_DATA_DIR: server.dataDir, PARLEY_ENGINE: "scripted" };
  remote = { ...local, PARLEY_ADMIN_URL: String(server.running.adminUrl), PARLEY_ADMIN_KEY: token };
}, 60_000);
afterAll(() => admin[Symbol.asyncDispose]());

const run = async (command: string, env: Record<string, string>) => {
  const { code, stdout, stderr } = await parley(command.replace("REQUEST", requestId).split(" "), {
    env,
    cwd: admin.server.dataDir,
  });
  // The use of the admin key itself is noted.
  return { code, stdout: stdout.replaceAll(/"last_used": .*/g, '"last_used"'), stderr };
};

const reads: readonly (readonly [command: string, seen: RegExp])[] = [
  ["keys list", /search +team +active/],
  ["keys show search --json", /"name": "search"/],
  ["groups list --json", /"name": "team"/],
  ["groups show team", /team/],
  ["admin-keys list --json", /"name": "portal"/],
  ["audit --json", /"action":"deleteKey"/],
  ["usage", /gone +1 /],
  ["usage --by group --json", /"group_name": "team",\s+"requests": 2/],
  ["usage --by model --format csv", /^model,requests/],
  ["usage --by day --since 1h --key gone", /\d +1 /],
  ["usage --model MODEL-1-mini --until 1h", /^key_id/],
  ["requests", /search +\S+ +failed +upstream_error/],
  ["requests --limit 1 --json", /"outcome": "failed"/],
  ["requests --outcome complete --key search --format csv", /,complete,/],
  ["requests --error upstream_error --model vendor/model-1", /failed/],
  ["request REQUEST", /outcome +complete/],
  ["request REQUEST --json", /"completion_tokens": 7/],
];

test.each(reads)("`%s` prints the same over HTTP", async (command, seen) => {
  const [here, there] = await Promise.all([run(command, local), run(command, remote)]);
  expect(here).toMatchObject({ code: 0, stdout: expect.stringMatching(seen) as string, stderr: "" });
  expect(there).toEqual(here);
});

const faults: readonly (readonly [command: string, message: RegExp])[] = [
  ["usage --key nobody", /^parley: There is no key nobody\.$/],
  ["requests --key twice", /^parley: Several keys are called twice\. Name one by its id: \w+, \w+\.$/],
  ["request req_none", /^parley: The ledger has no request req_none\. Only admitted requests are recorded\.$/],
];

test.each(faults)("`%s` fails in the same way over HTTP", async (command, message) => {
  const [here, there] = await Promise.all([run(command, local), run(command, remote)]);
  expect([here.code, here.stderr.trim()]).toEqual([1, expect.stringMatching(message)]);
  expect(there).toEqual(here);
});

test("pages of requests hold each request once, in both orders", async () => {
  for (const order of ["newest", "oldest"]) {
    const whole = (await admin.call(token, "GET", `/requests?order=${order}`))
      .body as components["schemas"]["RequestPage"]; // the contract says so
    const ids: string[] = [];
    let next: string | null = "";
    while (next !== null) {
      const after: string = next && `&after=${next}`;
      const reply = await admin.call(token, "GET", `/requests?order=${order}&limit=1${after}`);
      const page = reply.body as components["schemas"]["RequestPage"]; // the contract says so
      ids.push(...page.data.map(({ id }) => id));
      next = page.next;
    }
    expect([ids.length, ids]).toEqual([3, whole.data.map(({ id }) => id)]);
    expect(whole.next).toBeNull();
  }
});

test("`usage prune` over HTTP writes its file on this machine, removes the requests, and is recorded", async () => {
  const lastMs = Math.max(...(await admin.server.ledger()).map(({ ended_ms: ended }) => ended ?? 0));
  await until(
    () => Date.now(),
    (now) => now > lastMs + 5,
  );
  const here = { ...remote, PARLEY_DATA_DIR: join(admin.server.dataDir, "another", "machine") };
  const { code, stdout } = await run("usage prune --before 0m", here);
  const file = /are in (\S+)\.\n/.exec(stdout)?.[1] ?? "";
  expect([code, stdout]).toEqual([0, expect.stringContaining("3 were removed from the ledger")]);
  expect(file.startsWith(here.PARLEY_DATA_DIR)).toBe(true);
  expect(readFileSync(file, "utf8").trim().split("\r\n")).toHaveLength(4);
  expect(await admin.server.ledger()).toEqual([]);
  const [entry] = await admin.audit();
  expect(entry).toMatchObject({
    action: "pruneUsage",
    actor: { kind: "admin_key", name: "portal" },
    after: { requests: 3, before: expect.stringMatching(/Z$/) as string },
  });
});

test("an owner sees the requests that started while their key was in its group, also when the key has left it", async () => {
  const { data: groups } = await admin.local("listGroups", { ...none, query: { name: "team" } });
  const team = groups[0]?.id ?? "";
  const child = await admin.local("createGroup", { ...none, body: { name: "child", parent_id: team } });
  const owner = await admin.makeKey(["usage:read"], { name: "owner", group_id: team });
  const { key, token: own } = await admin.local("createKey", { ...none, body: { name: "mover" } });
  const portal = await admin.makeKey(["keys:write"]);
  const ids: Record<string, string> = {};
  for (const place of ["before", "in team", "in child", "after"]) {
    const groupId = { before: null, "in team": team, "in child": child.id, after: null }[place] ?? null;
    // The server itself makes the change, so its next request sees it.
    await admin.call(portal, "PATCH", `/keys/${key.id}`, { group_id: groupId });
    const answer = await admin.server.chat(play("seven"), withKey(own));
    ids[place] = answer.headers.get("x-request-id") ?? "";
    await answer.text();
  }
  await admin.local("deleteKey", { ...none, id: key.id });
  const read = async <Body>(path: string) => (await admin.call(owner, "GET", path)).body as Body; // the contract says so
  const usage = async (query: string) =>
    (await read<components["schemas"]["UsageReport"]>(`/usage?${query}`)).data.map(
      (row) => [row.group, row.requests] as const,
    );
  const listed = await read<components["schemas"]["RequestPage"]>("/requests");
  expect(listed.data.map(({ id }) => id)).toEqual([ids["in child"], ids["in team"]]);
  expect(await usage("by=key")).toEqual([[key.id, 2]]);
  expect(new Map(await usage("by=group"))).toEqual(
    new Map([
      [child.id, 1],
      [team, 1],
    ]),
  );
  expect(await usage(`group=${child.id}`)).toEqual([[key.id, 1]]);
  expect((await admin.call(owner, "GET", `/requests/${ids["in team"]}`)).status).toBe(200);
  for (const place of ["before", "after"])
    expect((await admin.call(owner, "GET", `/requests/${ids[place]}`)).code).toBe("not_found");
  expect((await admin.call(token, "GET", `/requests/${ids["after"]}`)).status).toBe(200);
});
