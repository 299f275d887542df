import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminStoresContract, assertCase, findViolations } from "@parley/server/testing";
import type { AdminStoresSubject } from "@parley/server/testing";
import { openState } from "../../src/state/open-state.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

async function openSqlite(): Promise<AdminStoresSubject & AsyncDisposable> {
  const folder = new DataFolder();
  const database = folder.open();
  const [state, other] = [openState(folder.path), openState(folder.path)];
  return {
    ...state,
    other,
    runSql: async (statement) => database.exec(statement.replace("{audit}", "audit")),
    [Symbol.asyncDispose]: async () => {
      for (const one of [state, other]) one[Symbol.dispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("admin keys and the audit log in SQLite", () => {
  test.each(adminStoresContract)("$title", (one) => assertCase(one, openSqlite));
});

describe.skipIf(!postgresFolder)(
  "admin keys and the audit log in PostgreSQL (this needs `initdb` of PostgreSQL)",
  () => {
    let postgres: TestPostgres;
    beforeAll(async () => void (postgres = await TestPostgres.start()));
    afterAll(() => postgres[Symbol.asyncDispose]());

    async function open(): Promise<AdminStoresSubject & AsyncDisposable> {
      const name = await postgres.createDatabase();
      const url = postgres.urlOf(name);
      const [state, other] = [await openPostgres(url), await openPostgres(url)];
      return {
        ...state,
        other,
        runSql: (statement) => postgres.query(statement.replace("{audit}", "parley.audit"), name),
        [Symbol.asyncDispose]: async () => {
          for (const one of [state, other]) await one[Symbol.asyncDispose]();
        },
      };
    }

    test.each(adminStoresContract)("$title", (one) => assertCase(one, open));

    test("the log cannot be emptied as a whole either", async () => {
      await using subject = await open();
      await expect(subject.runSql("TRUNCATE {audit}")).rejects.toThrow(/never changed/);
    });
  },
);

describe("the contract notices", () => {
  const broken: readonly (readonly [what: string, breakStores: (one: AdminStoresSubject) => object, title: RegExp])[] =
    [
      [
        "a log in another order",
        ({ audit }) => ({
          audit: override(audit, { read: async (...args) => (await audit.read(...args)).toReversed() }),
        }),
        /^deletes the entries/,
      ],
      [
        "a log that selects nothing",
        ({ audit }) => ({ audit: override(audit, { read: (_all, ...page) => audit.read({}, ...page) }) }),
        /^selects entries/,
      ],
      [
        "a pruning that deletes nothing",
        ({ audit }) => ({ audit: override(audit, { deleteBefore: async () => undefined }) }),
        /^refuses to change/,
      ],
      [
        "transactions that are none",
        (one) => ({ transact: (work: Parameters<AdminStoresSubject["transact"]>[0]) => work(one) }),
        /^makes all changes/,
      ],
      [
        "a disabled key whose time changes",
        ({ adminKeys }) => ({
          adminKeys: override(adminKeys, {
            disable: async (id, atMs) => (await adminKeys.enable(id)) && adminKeys.disable(id, atMs),
          }),
        }),
        /^disables an admin key/,
      ],
    ];
  test.each(broken)("%s", async (_what, breakStores, title) => {
    const violations = await findViolations(adminStoresContract, async () => {
      const subject = await openSqlite();
      return { ...subject, ...breakStores(subject) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });
});
