import { describe, expect, onTestFinished, test, vi } from "vitest";
import { assertCase, findViolations, keyStoreContract } from "@parley/server/testing";
import type { KeyStore, KeyStoreSubject, StoredKey } from "@parley/server/testing";
import { SqliteKeyStore, maxCached } from "../../src/state/sqlite-key-store.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

async function openSqlite(): Promise<KeyStoreSubject & AsyncDisposable> {
  const folder = new DataFolder();
  return {
    store: new SqliteKeyStore(folder.open()),
    other: new SqliteKeyStore(folder.open()),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("the key store in SQLite", () => {
  test.each(keyStoreContract)("$title", (one) => assertCase(one, openSqlite));

  test("keys are found after any number of other keys", async () => {
    await using subject = await openSqlite();
    const key = { id: "aaaaaaaaaaaa", hash: "a".repeat(64), name: "one", createdMs: 1000 };
    await subject.store.insert(key);
    // The cache holds `maxCached` keys. One more clears it.
    for (let count = 0; count <= maxCached + 1; count += 1)
      expect(await subject.store.find(count.toString(16).padStart(12, "0"))).toBeUndefined();
    expect(await subject.store.find(key.id)).toMatchObject(key);
  });
});

test("a change of another process is seen after the time that was asked for, and an own one at once", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await using folder = new DataFolder();
  const [store, other] = [new SqliteKeyStore(folder.open(), 10), new SqliteKeyStore(folder.open())];
  const key = { id: "aaaaaaaaaaaa", hash: "a".repeat(64), name: "one", createdMs: 1000 };
  await store.insert(key);
  expect(await store.find(key.id)).toMatchObject(key);
  await other.disable(key.id, 2000);
  vi.advanceTimersByTime(9);
  expect(await store.find(key.id)).toMatchObject({ disabledMs: undefined });
  vi.advanceTimersByTime(1);
  expect(await store.find(key.id)).toMatchObject({ disabledMs: 2000 });
  await store.enable(key.id);
  expect(await store.find(key.id)).toMatchObject({ disabledMs: undefined });
});

describe("the contract notices a store that", () => {
  const broken: readonly (readonly [
    what: string,
    breakStore: (store: KeyStore) => Partial<KeyStore>,
    title: RegExp,
  ])[] = [
    ["never looks at a key again that it has found", rememberForever, /^shows every change/],
    ["disables again every time", disableAnew, /^disables a key from the first time on/],
    [
      "forgets the rules",
      (store) => ({ insert: ({ models: _models, ...key }) => store.insert(key) }),
      /^finds a key as/,
    ],
    ["lists in another order", (store) => ({ list: async () => (await store.list()).toReversed() }), /^lists/],
    [
      "says nothing of an id that is taken",
      (store) => ({ insert: (key) => store.insert(key).catch(() => {}) }),
      /^rejects/,
    ],
    [
      "keeps the former secret of a key for good",
      (store) => ({ replaceHash: (id, hash) => store.replaceHash(id, hash, Number.MAX_SAFE_INTEGER) }),
      /^replaces the hash/,
    ],
    ["cannot take a rule away", (store) => ({ update: keepRules(store) }), /^changes the rules/],
    [
      "forgets the name of a deleted key",
      (store) => ({ names: async () => new Map((await store.list()).map(({ id, name }) => [id, name])) }),
      /^deletes a key/,
    ],
    ["claims that every key is there", () => ({ disable: async () => true }), /^says that there is no such key/],
  ];

  test.each(broken)("%s", async (_what, breakStore, title) => {
    const violations = await findViolations(keyStoreContract, async () => {
      const subject = await openSqlite();
      const { store, other } = subject;
      return { ...subject, store: override(store, breakStore(store)), other: override(other, breakStore(other)) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });
});

function rememberForever(store: KeyStore): Partial<KeyStore> {
  const seen = new Map<string, StoredKey>();
  return {
    find: async (id) => {
      const key = seen.get(id) ?? (await store.find(id));
      if (key) seen.set(id, key);
      return key;
    },
  };
}

const keepRules =
  (store: KeyStore): KeyStore["update"] =>
  (id, change) =>
    store.update(id, Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)));

function disableAnew(store: KeyStore): Partial<KeyStore> {
  const times = new Map<string, number>();
  return {
    disable: (id, atMs) => {
      times.set(id, atMs);
      return store.disable(id, atMs);
    },
    find: async (id) => {
      const key = await store.find(id);
      return key && { ...key, disabledMs: times.get(id) };
    },
  };
}
