import assert from "node:assert/strict";
import type { KeyStore, StoredKey } from "../../src/accounts/keys/key-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** One empty store, as two processes see it. */
export interface KeyStoreSubject {
  readonly store: KeyStore;
  /** The same store, opened a second time. */
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
  weight: 5,
  budgetUsd: "0.0000000000000000001",
  monthlyBudgetUsd: "25",
  budgetRaise: { usd: "0.000000000000000001", untilMs: 1_850_000_000_000 },
  former: { hash: hashOf("9"), untilMs: 1_800_000_000_000 },
};

/** Removes undefined rules, which mean the same as absent ones. */
const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
const assertSame = (actual: unknown, wanted: unknown): void => assert.deepEqual(shown(actual), shown(wanted));

/** The cases that every `KeyStore` must pass. */
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
    title: "keeps the group whose owner has disabled a key, until another one disables it or it is enabled",
    assert: async ({ store }) => {
      await store.insert(plain);
      await store.disable(plain.id, 5000, "grp_a");
      assertSame(await store.find(plain.id), { ...plain, disabledMs: 5000, disabledByGroupId: "grp_a" });
      await store.disable(plain.id, 9000);
      assertSame(await store.list(), [{ ...plain, disabledMs: 5000 }]);
      await store.disable(plain.id, 9000, "grp_b");
      await store.enable(plain.id);
      assertSame(await store.find(plain.id), plain);
    },
  },
  {
    title: "enables a key that was disabled or was not, and nothing else of it changes",
    assert: async ({ store }) => {
      await store.insert({ ...full, disabledMs: 5000 });
      for (let turn = 0; turn < 2; turn += 1) {
        assert.equal(await store.enable(full.id), true);
        assertSame(await store.find(full.id), full);
      }
    },
  },
  {
    title: "changes the rules that are named, removes those that are undefined, and leaves the rest",
    assert: async ({ store }) => {
      await store.insert(full);
      const change = {
        name: "another",
        models: ["vendor/model-1"],
        budgetUsd: undefined,
        budgetRaise: undefined,
        expiresMs: undefined,
      };
      assert.equal(await store.update(full.id, change), true);
      assertSame(await store.find(full.id), { ...full, ...change });
      assert.equal(await store.update(full.id, {}), true);
      assertSame(await store.find(full.id), { ...full, ...change });
    },
  },
  {
    title: "replaces the hash of a key, forgets the former one, and nothing else of it changes",
    assert: async ({ store }) => {
      await store.insert(full);
      assert.equal(await store.replaceHash(full.id, hashOf("3")), true);
      assertSame(await store.find(full.id), { ...full, hash: hashOf("3"), former: undefined });
    },
  },
  {
    title: "keeps the hash that it replaces until a time, where one is given",
    assert: async ({ store }) => {
      await store.insert(full);
      assert.equal(await store.replaceHash(full.id, hashOf("3"), 8000), true);
      const former = { hash: full.hash, untilMs: 8000 };
      assertSame(await store.find(full.id), { ...full, hash: hashOf("3"), former });
    },
  },
  {
    title: "deletes a key, and keeps its name",
    assert: async ({ store }) => {
      for (const key of [full, plain]) await store.insert(key);
      assert.equal(await store.delete(full.id, 6000), true);
      assert.equal(await store.find(full.id), undefined);
      assertSame(await store.list(), [plain]);
      assert.deepEqual(
        [...(await store.names())].toSorted(([one], [other]) => (one < other ? -1 : 1)),
        [plain, full].map(({ id, name }) => [id, name]),
      );
    },
  },
  {
    title: "says that there is no such key to change, and makes none",
    assert: async ({ store }) => {
      assert.equal(await store.update(plain.id, { name: "another" }), false);
      assert.equal(await store.disable(plain.id, 1), false);
      assert.equal(await store.enable(plain.id), false);
      assert.equal(await store.replaceHash(plain.id, hashOf("3")), false);
      assert.equal(await store.delete(plain.id, 1), false);
      assert.deepEqual(await store.list(), []);
      assert.deepEqual([...(await store.names())], []);
    },
  },
  {
    title: "shows every change to the next reader in this process, and within a second in another",
    assert: async ({ store, other }) => {
      for (const [writer, reader] of [
        [store, other],
        [other, store],
      ] as const) {
        const key = { ...plain, id: writer === store ? plain.id : full.id };
        const assertSeen = async (read: (seen: StoredKey | undefined) => unknown, wanted: unknown): Promise<void> => {
          assertSame(read(await writer.find(key.id)), wanted);
          const isSeen = async (): Promise<boolean> =>
            JSON.stringify(shown(read(await reader.find(key.id)))) === JSON.stringify(shown(wanted));
          const deadline = performance.now() + 1000;
          while (!(await isSeen())) assert.ok(performance.now() < deadline, "the other process does not see a change");
        };
        for (const one of [writer, reader]) assert.equal(await one.find(key.id), undefined);
        await writer.insert(key);
        for (const one of [writer, reader]) assertSame(await one.find(key.id), key);
        await writer.replaceHash(key.id, hashOf("4"));
        await assertSeen((seen) => seen?.hash, hashOf("4"));
        await writer.disable(key.id, 7000);
        await assertSeen((seen) => seen?.disabledMs, 7000);
        await writer.enable(key.id);
        await assertSeen((seen) => seen?.disabledMs, undefined);
        await writer.update(key.id, { name: "another" });
        await assertSeen((seen) => seen?.name, "another");
        await writer.delete(key.id, 8000);
        await assertSeen((seen) => seen?.id, undefined);
      }
    },
  },
];
