import assert from "node:assert/strict";
import type { KeyStore, StoredKey } from "../../src/auth/key-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** One empty store, seen by two processes. */
export interface KeyStoreSubject {
  readonly store: KeyStore;
  /** The same store, opened once more. */
  readonly other: KeyStore;
}

const hashOf = (digit: string): string => digit.repeat(64);
const plain: StoredKey = { id: "aaaaaaaaaaaa", hash: hashOf("1"), name: "plain", createdMs: 2000 };
const full: StoredKey = {
  id: "bbbbbbbbbbbb",
  hash: hashOf("2"),
  name: "with every rule",
  createdMs: 1000,
  expiresMs: 1_900_000_000_000,
  models: ["vendor/model-1", "vendor/model-1-mini"],
  requestsPerMinute: 60,
  tokensPerMinute: 1_000_000_000_000,
  concurrency: 3,
  budgetUsd: "0.0000000000000000001",
};

/** Rules that are undefined and rules that are left out are the same. */
const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
const assertSame = (actual: unknown, wanted: unknown): void => assert.deepEqual(shown(actual), shown(wanted));

/** What every `KeyStore` has to keep. */
export const keyStoreContract: readonly ContractCase<KeyStoreSubject>[] = [
  {
    title: "finds a key as it was inserted, with all its rules or none",
    assert: async ({ store }) => {
      await store.insert(full);
      await store.insert(plain);
      assertSame(await store.find(full.id), full);
      assertSame(await store.find(plain.id), plain);
    },
  },
  {
    title: "finds nothing for an id that is not there",
    assert: async ({ store }) => {
      await store.insert(plain);
      assert.equal(await store.find(full.id), undefined);
      assert.equal(await store.find(""), undefined);
    },
  },
  {
    title: "lists the oldest key first, and keys of one age by id",
    assert: async ({ store }) => {
      const twin = { ...plain, id: "000000000000" };
      for (const key of [plain, full, twin]) await store.insert(key);
      assertSame(await store.list(), [full, twin, plain]);
    },
  },
  {
    title: "rejects an id that is taken, and keeps the key that has it",
    assert: async ({ store }) => {
      await store.insert(plain);
      await assert.rejects(store.insert({ ...full, id: plain.id }));
      assertSame(await store.list(), [plain]);
    },
  },
  {
    title: "disables a key from the first time on, and nothing else of it changes",
    assert: async ({ store }) => {
      await store.insert(full);
      assert.equal(await store.disable(full.id, 5000), true);
      assert.equal(await store.disable(full.id, 9000), true);
      assertSame(await store.find(full.id), { ...full, disabledMs: 5000 });
    },
  },
  {
    title: "replaces the hash of a key, and nothing else of it changes",
    assert: async ({ store }) => {
      await store.insert(full);
      assert.equal(await store.replaceHash(full.id, hashOf("3")), true);
      assertSame(await store.find(full.id), { ...full, hash: hashOf("3") });
    },
  },
  {
    title: "says that there is no such key to disable or to give another hash, and makes none",
    assert: async ({ store }) => {
      assert.equal(await store.disable(plain.id, 1), false);
      assert.equal(await store.replaceHash(plain.id, hashOf("3")), false);
      assert.deepEqual(await store.list(), []);
    },
  },
  {
    title: "shows every change to the next reader, in this process and in another",
    assert: async ({ store, other }) => {
      for (const [writer, reader] of [
        [store, other],
        [other, store],
      ] as const) {
        const key = { ...plain, id: writer === store ? plain.id : full.id };
        for (const one of [writer, reader]) assert.equal(await one.find(key.id), undefined);
        await writer.insert(key);
        for (const one of [writer, reader]) assertSame(await one.find(key.id), key);
        await writer.replaceHash(key.id, hashOf("4"));
        for (const one of [writer, reader]) assert.equal((await one.find(key.id))?.hash, hashOf("4"));
        await writer.disable(key.id, 7000);
        for (const one of [writer, reader]) assert.equal((await one.find(key.id))?.disabledMs, 7000);
      }
    },
  },
];
