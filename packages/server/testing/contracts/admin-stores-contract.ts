import { until } from "../until.ts";
import assert from "node:assert/strict";
import type { StoredAdminKey } from "../../src/accounts/admin-keys/admin-key-store.ts";
import type { AuditEntry, AuditRecord } from "../../src/accounts/audit/audit-log.ts";
import type { ChangeStores, Transact } from "../../src/accounts/manage/managed-state.ts";
import type { ContractCase } from "./contract-case.ts";

interface Process extends ChangeStores {
  readonly transact: Transact;
}

/** An empty state, as two processes see it. */
export interface AdminStoresSubject extends Process {
  readonly other: Process;
  /** Runs a statement as someone who has the password of the database. The table of the log is `{audit}`. */
  readonly runSql: (statement: string) => Promise<unknown>;
}

const groupId = `grp_${"a".repeat(12)}`;
const plain: StoredAdminKey = { id: "aaaaaaaaaaaa", hash: "1".repeat(64), name: "plain", scopes: [], createdMs: 2000 };
const full: StoredAdminKey = {
  id: "bbbbbbbbbbbb",
  hash: "2".repeat(64),
  name: "with every rule",
  scopes: ["keys:read", "keys:write"],
  groupId,
  createdMs: 1000,
  expiresMs: 1_900_000_000_000,
  disabledMs: 3000,
  lastUsedMs: 4000,
};
const entry = (atMs: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  atMs,
  actor: { kind: "admin_key", id: plain.id, name: "plain" },
  from: { address: "10.0.0.1", agent: "test" },
  action: "createKey",
  target: { id: "cccccccccccc", name: "key", groupId },
  outcome: "done",
  attempts: 1,
  ...more,
});

/** Removes undefined members, which mean the same as absent ones. */
const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
const assertSame = (actual: unknown, wanted: unknown): void => assert.deepEqual(shown(actual), shown(wanted));
const ids = (entries: readonly AuditEntry[]): number[] => entries.map(({ id }) => id);

async function appendAll({ transact }: Process, ...records: readonly AuditRecord[]): Promise<void> {
  for (const record of records) await transact(({ audit }) => audit.append(record));
}

const makeGroup = ({ groups }: Process): Promise<void> => groups.insert({ id: groupId, name: "group", createdMs: 1 });

/** The cases that every implementation of `AdminKeyStore`, `AuditLog` and `Transact` must pass. */
export const adminStoresContract: readonly ContractCase<AdminStoresSubject>[] = [
  {
    title: "finds and lists admin keys as they were inserted, the oldest first",
    assert: async (subject) => {
      await makeGroup(subject);
      await subject.adminKeys.insert(plain);
      await subject.adminKeys.insert(full);
      assertSame(await subject.other.adminKeys.find(full.id), full);
      assertSame(await subject.adminKeys.list(), [full, plain]);
      assert.equal(await subject.adminKeys.find("000000000000"), undefined);
    },
  },
  {
    title: "refuses an admin key with an id that is taken, and one of a group that does not exist",
    assert: async ({ adminKeys }) => {
      await adminKeys.insert(plain);
      await assert.rejects(adminKeys.insert({ ...plain, name: "second" }));
      await assert.rejects(adminKeys.insert(full));
      assertSame(await adminKeys.list(), [plain]);
    },
  },
  {
    title: "disables an admin key from the first time on, enables it, notes its use, and deletes it",
    assert: async ({ adminKeys }) => {
      await adminKeys.insert(plain);
      assert.equal(await adminKeys.disable(plain.id, 5000), true);
      assert.equal(await adminKeys.disable(plain.id, 9000, "grp_a"), true);
      assert.equal(await adminKeys.noteUse(plain.id, 7000), true);
      assertSame(await adminKeys.find(plain.id), {
        ...plain,
        disabledMs: 5000,
        disabledByGroupId: "grp_a",
        lastUsedMs: 7000,
      });
      assert.equal(await adminKeys.enable(plain.id), true);
      assertSame(await adminKeys.find(plain.id), { ...plain, lastUsedMs: 7000 });
      assert.equal(await adminKeys.delete(plain.id), true);
      assert.equal(await adminKeys.delete(plain.id), false);
      assert.equal(await adminKeys.disable(plain.id, 1), false);
    },
  },
  {
    title: "reads the log from the newest entry on, in pages, as it was written",
    assert: async (subject) => {
      const second = entry(2000, { outcome: "refused", reason: "why", attempts: 7, target: {} });
      await appendAll(subject, entry(1000, { before: { a: 1 }, after: { a: 2 } }), second, entry(3000));
      const all = await subject.other.audit.read({}, 10);
      assertSame(all[1], { id: 2, ...second });
      assertSame(all[2], { id: 1, ...entry(1000, { before: { a: 1 }, after: { a: 2 } }) });
      assert.deepEqual(ids(all), [3, 2, 1]);
      assert.deepEqual(ids(await subject.audit.read({}, 1, 3)), [2]);
    },
  },
  {
    title: "selects entries by time, action, outcome, actor, target and group",
    assert: async (subject) => {
      const stranger = { kind: "unknown", name: "" } as const;
      await appendAll(subject, entry(1000, { action: "deleteKey" }), entry(2000, { outcome: "refused" }));
      await appendAll(subject, entry(3000, { actor: stranger, target: { id: "x" } }));
      const read = async (...[selection]: Parameters<typeof subject.audit.read>): Promise<number[]> =>
        ids(await subject.audit.read(selection, 10));
      assert.deepEqual(await read({ sinceMs: 2000, untilMs: 3000 }, 10), [2]);
      assert.deepEqual(await read({ action: "deleteKey" }, 10), [1]);
      assert.deepEqual(await read({ outcome: "refused" }, 10), [2]);
      assert.deepEqual(await read({ actor: "plain" }, 10), [2, 1]);
      assert.deepEqual(await read({ actor: plain.id }, 10), [2, 1]);
      assert.deepEqual(await read({ targetId: "x" }, 10), [3]);
      assert.deepEqual(await read({ within: { groupIds: [groupId], adminKeyId: "none" } }, 10), [2, 1]);
      assert.deepEqual(await read({ within: { groupIds: ["grp_other"], adminKeyId: plain.id } }, 10), [2, 1]);
    },
  },
  {
    title: "refuses to change an entry, and to delete one without a recorded pruning, also outside of Parley",
    assert: async (subject) => {
      await appendAll(subject, entry(1000), entry(2000));
      await assert.rejects(subject.runSql("UPDATE {audit} SET actor_name = 'nobody'"), /never changed/);
      await assert.rejects(subject.runSql("DELETE FROM {audit}"), /recorded pruning/);
      await assert.rejects(subject.audit.deleteBefore(1500), /recorded pruning/);
      assert.deepEqual(ids(await subject.audit.read({}, 10)), [2, 1]);
    },
  },
  {
    title: "deletes the entries that a recorded pruning covers, and numbers later entries on",
    assert: async (subject) => {
      await appendAll(subject, entry(1000), entry(2000));
      assert.equal(await subject.audit.countBefore(1500), 1);
      await subject.transact(async ({ audit }) => {
        await audit.append(entry(3000, { action: "pruneAudit" }), 1500);
        await audit.deleteBefore(1500);
      });
      assert.deepEqual(ids(await subject.audit.read({}, 10)), [3, 2]);
      await assert.rejects(subject.audit.deleteBefore(2500), /recorded pruning/);
      await appendAll(subject, entry(4000));
      assert.deepEqual(ids(await subject.audit.read({}, 1)), [4]);
    },
  },
  {
    title: "makes all changes of a transaction or none, also those of keys and groups",
    assert: async (subject) => {
      const key = { id: "dddddddddddd", hash: "3".repeat(64), name: "key", createdMs: 1, groupId };
      const change = async ({ keys, groups, adminKeys, audit }: ChangeStores): Promise<void> => {
        await groups.insert({ id: groupId, name: "group", createdMs: 1 });
        await keys.insert(key);
        await adminKeys.insert(full);
        await audit.append(entry(1000));
      };
      const failing = subject.transact(async (stores) => {
        await change(stores);
        assert.equal((await stores.keys.find(key.id))?.name, "key");
        throw new Error("the last step failed");
      });
      await assert.rejects(failing, /the last step failed/);
      for (const one of [subject, subject.other]) {
        assert.equal(await one.keys.find(key.id), undefined);
        assertSame([await one.groups.list(), await one.adminKeys.list(), await one.audit.read({}, 9)], [[], [], []]);
      }
      await subject.transact(change);
      for (const one of [subject, subject.other]) {
        // Another process sees a change within a second.
        await until(
          async () => (await one.keys.find(key.id))?.groups?.[0]?.name,
          (name) => name === "group",
          1000,
        );
        assertSame([(await one.adminKeys.list()).length, ids(await one.audit.read({}, 9))], [1, [1]]);
      }
    },
  },
  {
    title: "runs one transaction at a time, also of two processes",
    assert: async (subject) => {
      const names = async ({ groups }: ChangeStores): Promise<number> => (await groups.list()).length;
      const add = (process: Process, digit: string): Promise<void> =>
        process.transact(async (stores) => {
          // Two that ran at the same time would both see the same number.
          const count = await names(stores);
          const id = `grp_${digit.repeat(12)}`;
          await stores.groups.insert({ id, name: `the group after ${count} others`, createdMs: count });
        });
      await Promise.all(
        ["a", "b", "c", "d", "e", "f"].map((digit, index) => add(index % 2 ? subject : subject.other, digit)),
      );
      assert.equal(await names(subject), 6);
    },
  },
];
