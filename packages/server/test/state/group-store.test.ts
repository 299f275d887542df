import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assertCase, findViolations, groupStoreContract } from "@parley/server/testing";
import type { GroupStore, GroupStoreSubject } from "@parley/server/testing";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { SqliteGroupStore } from "../../src/state/sqlite-group-store.ts";
import { SqliteKeyStore } from "../../src/state/sqlite-key-store.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

async function openSqlite(): Promise<GroupStoreSubject & AsyncDisposable> {
  const folder = new DataFolder();
  const open = () => {
    const database = folder.open();
    const keys = new SqliteKeyStore(database);
    return { keys, groups: new SqliteGroupStore(database, () => keys.forgetAll()) };
  };
  return { ...open(), other: open(), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe("the group store in SQLite", () => {
  test.each(groupStoreContract)("$title", (one) => assertCase(one, openSqlite));
});

describe.skipIf(!postgresFolder)("the group store in PostgreSQL (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function open(): Promise<GroupStoreSubject & AsyncDisposable> {
    const url = postgres.urlOf(await postgres.createDatabase());
    const [state, other] = [await openPostgres(url), await openPostgres(url)];
    return {
      ...state,
      other,
      [Symbol.asyncDispose]: async () => {
        for (const one of [state, other]) await one[Symbol.asyncDispose]();
      },
    };
  }

  test.each(groupStoreContract)("$title", (one) => assertCase(one, open));
});

describe("the contract notices a store that", () => {
  const broken: readonly (readonly [
    what: string,
    breakStore: (store: GroupStore) => Partial<GroupStore>,
    title: RegExp,
  ])[] = [
    [
      "lists in another order",
      (store) => ({ list: async () => (await store.list()).toReversed() }),
      /^finds and lists/,
    ],
    [
      "finds a group by the beginning of its name",
      (store) => ({
        findNamed: async (texts) =>
          (await store.list()).filter(({ id, name }) => texts.some((text) => id === text || name.startsWith(text))),
      }),
      /^finds the groups that have one/,
    ],
    ["lets everything pass", (store) => ({ insert: (group) => store.insert(group).catch(() => {}) }), /^refuses rules/],
    [
      "ignores a new parent",
      (store) => ({ update: (id, { parentId: _parent, ...change }) => store.update(id, change) }),
      /^refuses a circle/,
    ],
    [
      "cannot take a rule away",
      (store) => ({ update: (id, change) => store.update(id, JSON.parse(JSON.stringify(change)) as typeof change) }),
      /^changes the rules/,
    ],
    ["disables nothing", () => ({ disable: async () => true }), /^disables a group/],
    ["claims that every group is there", () => ({ enable: async () => true }), /^says that there is no such group/],
    [
      "forgets the name of a deleted group",
      (store) => ({ names: async () => new Map((await store.list()).map(({ id, name }) => [id, name])) }),
      /^deletes a group/,
    ],
  ];

  test.each(broken)("%s", async (_what, breakStore, title) => {
    const violations = await findViolations(groupStoreContract, async () => {
      const subject = await openSqlite();
      return { ...subject, groups: override(subject.groups, breakStore(subject.groups)) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });

  test("does not tell the keys of its own process about a change", async () => {
    const violations = await findViolations(groupStoreContract, async () => {
      const folder = new DataFolder();
      const open = () => {
        const database = folder.open();
        return { keys: new SqliteKeyStore(database), groups: new SqliteGroupStore(database, () => undefined) };
      };
      return { ...open(), other: open(), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
    });
    expect(violations).toContainEqual(expect.stringMatching(/^shows a changed group/));
  });
});
