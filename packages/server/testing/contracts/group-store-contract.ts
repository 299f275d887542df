import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { GroupError } from "../../src/accounts/groups/group-store.ts";
import type { GroupChange, GroupStore, StoredGroup } from "../../src/accounts/groups/group-store.ts";
import type { KeyStore, StoredKey } from "../../src/accounts/keys/key-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** One process with groups and keys. */
interface Process {
  readonly groups: GroupStore;
  readonly keys: KeyStore;
}

/** Empty groups and keys, as two processes see them. */
export interface GroupStoreSubject extends Process {
  readonly other: Process;
}

const idOf = (digit: string): string => `grp_${digit.repeat(12)}`;
const plain: StoredGroup = { id: idOf("a"), name: "plain", createdMs: 2000 };
const full: StoredGroup = {
  id: idOf("b"),
  name: "with every rule",
  createdMs: 1000,
  budgetUsd: "0.000000000000000001",
  budgetRaise: { usd: "20", untilMs: 1_850_000_000_000 },
  period: "month",
  timeZone: "Europe/Berlin",
  maxKeys: 5,
  keyCeiling: { requestsPerMinute: 60, budgetUsd: "10", models: ["vendor/model-1"] },
};
const child: StoredGroup = { id: idOf("c"), name: "child", createdMs: 3000, parentId: full.id };
const key: StoredKey = { id: "aaaaaaaaaaaa", hash: "1".repeat(64), name: "key", createdMs: 1, groupId: child.id };

/** Removes undefined rules, which mean the same as absent ones. */
const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
const assertSame = (actual: unknown, wanted: unknown): void => assert.deepEqual(shown(actual), shown(wanted));

/** Checks that a change is refused with a `GroupError` about a rule. */
const assertRefused = (change: Promise<unknown>, rule: GroupError["rule"], message: RegExp): Promise<void> =>
  assert.rejects(change, (error) => {
    assert.ok(error instanceof GroupError, String(error));
    assert.equal(error.rule, rule);
    assert.match(error.message, message);
    return true;
  });

async function insertAll({ groups }: Process, ...all: readonly StoredGroup[]): Promise<void> {
  for (const group of all) await groups.insert(group);
}

/** Rules that no group may have, and a part of the message. */
const forbidden: readonly (readonly [change: GroupChange, rule: GroupError["rule"], message: RegExp])[] = [
  [{ name: "plain" }, "name", /already a group plain/],
  [{ name: "" }, "name", /1 to 200 characters/],
  [{ name: " padded" }, "name", /without blanks/],
  [{ name: "none" }, "name", /cannot be called none/],
  [{ name: idOf("d") }, "name", /cannot be called grp_/],
  [{ period: "day" }, "timeZone", /needs a time zone/],
  [{ timeZone: "UTC" }, "period", /needs a period/],
  [{ period: "day", timeZone: "Europe/Berln" }, "timeZone", /no time zone Europe\/Berln/],
  [{ period: "week", timeZone: "+02:00" }, "timeZone", /no time zone \+02:00/],
  [{ parentId: idOf("9") }, "parentId", /no group grp_9/],
  [{ parentId: child.id }, "parentId", /child is in another group itself.*nest once/],
];

/** The cases that every `GroupStore` must pass. */
export const groupStoreContract: readonly ContractCase<GroupStoreSubject>[] = [
  {
    title: "finds and lists groups as they were inserted, the oldest first, with all their rules or none",
    assert: async (subject) => {
      await insertAll(subject, full, plain, child);
      for (const group of [full, plain, child]) assertSame(await subject.groups.find(group.id), group);
      assertSame(await subject.groups.list(), [full, plain, child]);
      assert.equal(await subject.groups.find(idOf("9")), undefined);
    },
  },
  {
    title: "finds the groups that have one of many texts as their name or id, exactly",
    assert: async ({ groups, other }) => {
      await insertAll({ groups, keys: other.keys }, full, plain, child);
      const found = async (...texts: string[]): Promise<string[]> =>
        (await groups.findNamed(texts)).map(({ name }) => name);
      assert.deepEqual(await found("plain"), ["plain"]);
      assert.deepEqual(await found("child", plain.id, "plain", full.id), [full.name, "plain", "child"]);
      assertSame(await other.groups.findNamed([full.name]), [full]);
      const many = Array.from({ length: 3000 }, (_, index) => `group ${index}`);
      assert.deepEqual(await found(...many, "plain"), ["plain"]);
      assert.deepEqual(await found(), []);
      for (const text of [
        "",
        "Plain",
        "plain ",
        "plai%",
        "plain\0",
        "plain\0evil",
        "plain\ud800",
        "' OR '1'='1",
        "plain\\",
      ])
        assert.deepEqual(await found(text), [], JSON.stringify(text));
    },
  },
  {
    title: "rejects an id that is taken, and keeps the group that has it",
    assert: async (subject) => {
      await insertAll(subject, plain);
      await assert.rejects(subject.groups.insert({ ...full, id: plain.id }));
      assertSame(await subject.groups.list(), [plain]);
    },
  },
  {
    title: "refuses rules that no group may have, new or changed, and changes nothing",
    assert: async (subject) => {
      await insertAll(subject, full, plain, child);
      const own = { id: idOf("e"), name: "own", createdMs: 9000 };
      for (const [change, rule, message] of forbidden)
        await assertRefused(subject.groups.insert({ ...own, ...change }), rule, message);
      await subject.groups.insert(own);
      for (const [change, rule, message] of forbidden)
        await assertRefused(subject.groups.update(own.id, change), rule, message);
      assertSame(await subject.groups.list(), [full, plain, child, own]);
    },
  },
  {
    title: "refuses a circle and a second level of nesting, from whichever side",
    assert: async (subject) => {
      await insertAll(subject, full, plain, child);
      const { groups } = subject;
      await assertRefused(groups.update(plain.id, { parentId: plain.id }), "parentId", /its own parent/);
      await assertRefused(groups.update(full.id, { parentId: child.id }), "parentId", /circle/);
      await assertRefused(groups.update(full.id, { parentId: plain.id }), "parentId", /has groups itself \(child\)/);
      await groups.update(child.id, { parentId: undefined });
      await groups.update(full.id, { parentId: plain.id });
      await assertRefused(groups.update(plain.id, { parentId: child.id }), "parentId", /has groups itself/);
    },
  },
  {
    title: "lets one of two changes happen that would make a circle together, or two groups with one name",
    assert: async (subject) => {
      await insertAll(subject, full, plain);
      const { groups, other } = subject;
      const settle = async (...changes: Promise<unknown>[]): Promise<void> => {
        const results = await Promise.allSettled(changes);
        assert.deepEqual(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      };
      await settle(
        groups.update(full.id, { parentId: plain.id }),
        other.groups.update(plain.id, { parentId: full.id }),
      );
      await settle(
        groups.insert({ ...child, parentId: undefined }),
        other.groups.insert({ ...child, id: idOf("d"), parentId: undefined }),
      );
    },
  },
  {
    title: "changes the rules that are named, removes those that are undefined, and leaves the rest",
    assert: async (subject) => {
      await insertAll(subject, full);
      const change = { name: "another", budgetUsd: "7", keyCeiling: undefined, maxKeys: undefined };
      assert.equal(await subject.groups.update(full.id, change), true);
      assertSame(await subject.groups.find(full.id), { ...full, ...change });
      assert.equal(await subject.groups.update(full.id, { period: undefined, timeZone: undefined }), true);
      assertSame(await subject.groups.find(full.id), { ...full, ...change, period: undefined, timeZone: undefined });
    },
  },
  {
    title: "disables a group from the first time on, enables it, and nothing else of it changes",
    assert: async (subject) => {
      await insertAll(subject, full);
      for (const atMs of [5000, 9000]) assert.equal(await subject.groups.disable(full.id, atMs), true);
      assertSame(await subject.groups.find(full.id), { ...full, disabledMs: 5000 });
      for (let turn = 0; turn < 2; turn += 1) {
        assert.equal(await subject.groups.enable(full.id), true);
        assertSame(await subject.groups.find(full.id), full);
      }
    },
  },
  {
    title: "deletes a group that has neither keys nor groups, and keeps its name",
    assert: async (subject) => {
      const { groups, keys } = subject;
      await insertAll(subject, full, child);
      await keys.insert(key);
      await assertRefused(groups.delete(full.id, 6000), undefined, /still has groups \(child\)/);
      await assertRefused(groups.delete(child.id, 6000), undefined, /still has 1 key\. Move/);
      assertSame(await groups.list(), [full, child]);
      await keys.update(key.id, { groupId: undefined });
      assert.equal(await groups.delete(child.id, 6000), true);
      assert.equal(await groups.delete(full.id, 6000), true);
      assert.deepEqual(await groups.list(), []);
      const names = Object.fromEntries([full, child].map(({ id, name }) => [id, name]));
      assert.deepEqual(Object.fromEntries(await groups.names()), names);
    },
  },
  {
    title: "says that there is no such group to change, and makes none",
    assert: async ({ groups }) => {
      assert.equal(await groups.update(plain.id, { name: "another" }), false);
      assert.equal(await groups.disable(plain.id, 1), false);
      assert.equal(await groups.enable(plain.id), false);
      assert.equal(await groups.delete(plain.id, 1), false);
      assert.deepEqual([await groups.list(), [...(await groups.names())]], [[], []]);
    },
  },
  {
    title: "gives a key its group and the group's parent, and refuses a key in a group that does not exist",
    assert: async (subject) => {
      const { keys } = subject;
      await assertRefused(keys.insert(key), "groupId", /no group grp_c/);
      assert.deepEqual(await keys.list(), []);
      await insertAll(subject, full, plain, child);
      await keys.insert(key);
      assertSame(await keys.find(key.id), { ...key, groups: [child, full] });
      assertSame(await keys.list(), [key]);
      await keys.update(key.id, { groupId: plain.id });
      assertSame(await keys.find(key.id), { ...key, groupId: plain.id, groups: [plain] });
      await assertRefused(keys.update(key.id, { groupId: idOf("9") }), "groupId", /no group grp_9/);
      await keys.update(key.id, { groupId: undefined });
      assertSame(await keys.find(key.id), { ...key, groupId: undefined });
    },
  },
  {
    title: "shows a changed group with its keys to the next reader in this process, and within a second in another",
    assert: async (subject) => {
      await insertAll(subject, full, child);
      await subject.keys.insert(key);
      const processes = [subject, subject.other];
      const assertSeen = async (writer: Process, wanted: readonly StoredGroup[]): Promise<void> => {
        assertSame((await writer.keys.find(key.id))?.groups, wanted);
        for (const { keys } of processes) {
          const isSeen = async (): Promise<boolean> =>
            isDeepStrictEqual(shown((await keys.find(key.id))?.groups), shown(wanted));
          const deadline = performance.now() + 1000;
          while (!(await isSeen())) assert.ok(performance.now() < deadline, "a process does not see a change");
        }
      };
      for (const [index, writer] of processes.entries()) {
        await assertSeen(writer, [child, full]);
        await writer.groups.disable(full.id, 7000);
        await assertSeen(writer, [child, { ...full, disabledMs: 7000 }]);
        await writer.groups.enable(full.id);
        await writer.groups.update(child.id, { name: `child ${index}` });
        await assertSeen(writer, [{ ...child, name: `child ${index}` }, full]);
        await writer.groups.update(child.id, { name: child.name });
        await assertSeen(writer, [child, full]);
      }
    },
  },
];
