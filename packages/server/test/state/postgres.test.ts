import { afterAll, beforeAll, describe, test } from "vitest";
import { assertCase, keyStoreContract, usageLedgerContract } from "@parley/server/testing";
import type { KeyStoreSubject, UsageLedgerSubject } from "@parley/server/testing";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { TestPostgres, postgresFolder } from "../../testing/start-postgres.ts";

describe.skipIf(!postgresFolder)("state in PostgreSQL (this needs `initdb` of PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function openKeys(): Promise<KeyStoreSubject & AsyncDisposable> {
    const url = postgres.urlOf(await postgres.createDatabase());
    const states = [await openPostgres(url), await openPostgres(url)] as const;
    return {
      store: states[0].keys,
      other: states[1].keys,
      [Symbol.asyncDispose]: async () => {
        for (const state of states) await state[Symbol.asyncDispose]();
      },
    };
  }

  async function openLedger(): Promise<UsageLedgerSubject & AsyncDisposable> {
    const database = await postgres.createDatabase();
    const url = postgres.urlOf(database);
    let state = await openPostgres(url);
    return {
      ledger: state.ledger,
      restart: async () => {
        await state[Symbol.asyncDispose]();
        state = await openPostgres(url);
        return state.ledger;
      },
      refuseWrites: async (isRefused) => {
        const change = isRefused ? ["REVOKE", "FROM"] : ["GRANT", "TO"];
        const rights = "INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA parley";
        await postgres.query(`${change[0]} ${rights} ${change[1]} parley`, database);
      },
      [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
    };
  }

  describe("the key store", () => {
    test.each(keyStoreContract)("$title", (one) => assertCase(one, openKeys));
  });

  describe("the usage ledger", () => {
    test.each(usageLedgerContract)("$title", (one) => assertCase(one, openLedger));
  });
});
