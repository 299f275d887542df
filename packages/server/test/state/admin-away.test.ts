import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { postgresFolder, TestPostgres } from "../../testing/start-postgres.ts";
import { startAdmin } from "../admin/use-admin.ts";
import type { AdminServer, Reply } from "../admin/use-admin.ts";
import { startProxy } from "./silent-proxy.ts";

const away = "The database cannot be used at the moment, so the request was not carried out. Try again later.";
const lostCommit =
  "The connection to the database was lost during the commit, so the change may or may not have been made. Look before you try again.";
const lostResult = "The change was made and recorded, but the database was lost before its result could be read.";
const lostPruning =
  "The pruning is recorded, but the database was lost before all requests were removed. Prune again to remove the rest.";
const scopes = [
  "keys:read",
  "keys:write",
  "groups:read",
  "groups:write",
  "audit:read",
  "usage:read",
  "usage:prune",
] as const;
const none = { id: undefined, query: {}, body: undefined };

describe.skipIf(!postgresFolder)("the admin API and a PostgreSQL that is away (this needs `initdb`)", () => {
  let postgres: TestPostgres;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let admin: AdminServer;
  let token: string;

  beforeAll(async () => {
    postgres = await TestPostgres.start();
    proxy = await startProxy(postgres.port);
    const url = postgres.urlOf(await postgres.createDatabase());
    admin = await startAdmin({ settings: { databaseUrl: url.replace(`:${postgres.port}`, `:${proxy.port}`) } });
    token = await admin.makeKey(scopes);
  });
  afterAll(async () => {
    await admin[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  /** Returns the names of the stored keys and groups, and those whose creation is in the audit log. */
  const readNames = async (): Promise<{
    readonly stored: ReadonlySet<string>;
    readonly recorded: ReadonlySet<string>;
  }> => {
    const [keys, groups] = [await admin.local("listKeys", none), await admin.local("listGroups", none)];
    const created = (await admin.audit()).filter(
      ({ action, outcome }) => action.startsWith("create") && outcome === "done",
    );
    return {
      stored: new Set([...keys.data, ...groups.data].map(({ name }) => name)),
      recorded: new Set(created.map(({ target }) => target.name ?? "")),
    };
  };

  const expectAway = (reply: Reply, message: string): void => {
    expect([reply.status, reply.code, reply.message]).toEqual([503, "service_unavailable", message]);
    expect(reply.headers.get("retry-after")).toBe("2");
    expect(reply.text).not.toMatch(/parley\.|ECONN|127\.0\.0\.1|secret/);
  };

  const statements = [
    "BEGIN",
    "pg_advisory_xact_lock",
    "FROM parley.groups ORDER",
    "INSERT INTO parley.keys",
    "AS last FROM parley.audit",
    "INSERT INTO parley.audit",
    "COMMIT",
    "spent-in-month",
  ];
  const cuts = statements.flatMap((text) => [false, true].map((isSent) => ({ text, isSent })));

  test.each(cuts)("a cut at $text (answered: $isSent) does nothing or all of a creation", async ({ text, isSent }) => {
    const name = `cut ${statements.indexOf(text)} ${isSent}`;
    proxy.cut = { text, isSent };
    const reply = await admin.call(token, "POST", "/keys", { name });
    expect(proxy.cut).toBeUndefined();
    expectAway(reply, text === "COMMIT" ? lostCommit : text.startsWith("spent") ? lostResult : away);
    const isMade = text.startsWith("spent") || (text === "COMMIT" && isSent);
    const { stored, recorded } = await readNames();
    expect([stored.has(name), recorded.has(name)]).toEqual([isMade, isMade]);
    expect((await admin.call(token, "POST", "/keys", { name: `after ${name}` })).status).toBe(201);
  });

  const raise = { budget_raise: { usd: "2", until: "2099-01-31T00:00:00.000Z" } };
  const raises = (["Key", "Group"] as const).flatMap((kind) =>
    ["BEGIN", `UPDATE parley.${kind.toLowerCase()}s`, "INSERT INTO parley.audit", "COMMIT"].flatMap((text) =>
      [false, true].map((isSent) => ({ kind, text, isSent })),
    ),
  );

  let raised = 0;
  test.each(raises)(
    "a cut at $text (answered: $isSent) does nothing or all of a raise of a $kind",
    async ({ kind, text, isSent }) => {
      const path = `/${kind.toLowerCase()}s`;
      const made = await admin.call(token, "POST", path, { name: `raised ${(raised += 1)}`, budget_usd: "5" });
      // A group, or a key beside its token.
      const { key, ...group } = made.body as { readonly id: string; readonly key?: { readonly id: string } };
      const { id } = key ?? group;
      const read = async () => [
        Object(await admin.call(token, "GET", `${path}/${id}`)).body.budget_raise,
        (await admin.audit()).filter(({ action, target }) => action === `update${kind}` && target.id === id).length,
      ];
      const change = () => admin.call(token, "PATCH", `${path}/${id}`, raise);
      proxy.cut = { text, isSent };
      expectAway(await change(), text === "COMMIT" ? lostCommit : away);
      const isMade = text === "COMMIT" && isSent;
      expect(await read()).toEqual(isMade ? [raise.budget_raise, 1] : [null, 0]);
      expect((await change()).body).toMatchObject(raise);
      expect(await read()).toEqual([raise.budget_raise, isMade ? 2 : 1]);
    },
  );

  const changes: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
    ["PATCH", "/keys/KEY", { weight: 7 }],
    ["POST", "/keys/KEY/rotate", {}],
    ["POST", "/keys/KEY/disable", undefined],
    ["DELETE", "/keys/KEY", undefined],
    ["PATCH", "/groups/GROUP", { max_keys: 3 }],
    ["POST", "/groups/GROUP/disable", undefined],
    ["DELETE", "/groups/GROUP", undefined],
  ];

  test.each(changes)("%s %s with a cut before its record changes nothing", async (method, path, body) => {
    const { key } = await admin.local("createKey", { ...none, body: { name: `${method} ${path}` } });
    const group = await admin.local("createGroup", { ...none, body: { name: `${method} ${path}` } });
    const state = async () => [await admin.local("listKeys", none), await admin.local("listGroups", none)];
    const [before, entries] = [await state(), (await admin.audit()).length];
    const change = () => admin.call(token, method, path.replace("KEY", key.id).replace("GROUP", group.id), body);
    proxy.cut = { text: "INSERT INTO parley.audit", isSent: false };
    expectAway(await change(), away);
    expect([await state(), (await admin.audit()).length]).toEqual([before, entries]);
    expect((await change()).status).toBeLessThan(300);
    expect((await admin.audit()).length).toBe(entries + 1);
  });

  test("a pruning of the ledger that is cut is recorded, and the next one removes the rest", async () => {
    const prune = () => admin.call(token, "POST", "/usage/prune", { before: "2020-01-01T00:00:00Z" });
    proxy.cut = { text: "DELETE FROM parley.requests", isSent: false };
    expectAway(await prune(), lostPruning);
    expect((await admin.audit())[0]).toMatchObject({ action: "pruneUsage", outcome: "done", after: { requests: 0 } });
    expect((await prune()).body).toEqual({ deleted: 0 });
  });

  test("while PostgreSQL is killed every request gets 503, a wrong key, too; then all of it works again", async () => {
    const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
      ["GET", "/self"],
      ["GET", "/keys"],
      ["GET", "/usage"],
      ["GET", "/requests"],
      ["GET", "/audit"],
      ["GET", "/audit/export"],
      ["POST", "/keys", { name: "never" }],
      ["POST", "/groups", { name: "never" }],
    ];
    await postgres.kill();
    for (const [method, path, body] of requests) expectAway(await admin.call(token, method, path, body), away);
    expectAway(await admin.call("wrong", "GET", "/self"), away);
    await postgres.start();
    expect((await readNames()).stored).not.toContain("never");
    for (const [method, path, body] of requests)
      expect((await admin.call(token, method, path, body)).status).toBeLessThan(300);
    expect((await admin.call("wrong", "GET", "/self")).status).toBe(401);
  });

  test("a kill among 40 racing creations leaves as many keys as records, and each answer is true", async () => {
    const names = Array.from({ length: 40 }, (_none, index) => `racing ${index}`);
    const racing = names.map(async (name) => ({ name, reply: await admin.call(token, "POST", "/keys", { name }) }));
    await Promise.race(racing.slice(5));
    await postgres.kill();
    const all = await Promise.all(racing);
    await postgres.start();
    const { stored, recorded } = await readNames();
    for (const { name, reply } of all) {
      expect([name, stored.has(name)]).toEqual([name, recorded.has(name)]);
      if (reply.status === 201 || reply.message === lostResult) expect([name, stored.has(name)]).toEqual([name, true]);
      else if (reply.message === away) expect([name, stored.has(name)]).toEqual([name, false]);
      else expectAway(reply, lostCommit);
    }
    expect(new Set(all.map(({ reply }) => reply.status))).toEqual(new Set([201, 503]));
  });

  test("a server that pauses in the middle of a change does not block the changes of the others for long", async () => {
    const url = postgres.urlOf(await postgres.createDatabase());
    const paused = await openPostgres(url, { maxStatementMs: 1000 });
    const other = await openPostgres(url);
    onTestFinished(async () => {
      await other[Symbol.asyncDispose]();
      await paused[Symbol.asyncDispose]();
    });
    const key = { id: "aaaaaaaaaaaa", hash: "", name: "one", createdMs: 1 };
    const [inserted, resumed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const change = paused.transact(async ({ keys }) => {
      await keys.insert(key);
      inserted.resolve(undefined);
      await resumed.promise;
    });
    const failure = change.catch((error: unknown) => error);
    await inserted.promise;
    await other.transact(async ({ keys }) => keys.insert({ ...key, name: "two" }));
    expect(await other.keys.list()).toMatchObject([{ name: "two" }]);
    resumed.resolve(undefined);
    expect(await failure).toBeInstanceOf(Error);
    expect(await other.keys.list()).toMatchObject([{ name: "two" }]);
  });
});
