import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { WriteGroup } from "./write-group.ts";

let database: DatabaseSync;
let commits: number;
let group: WriteGroup;

beforeEach(() => {
  database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE numbers (number INTEGER UNIQUE)");
  commits = 0;
  group = new WriteGroup(database, { onEnd: (isCommitted) => void (commits += Number(isCommitted)) });
});

const insert = (number: number) => (): void => void database.prepare("INSERT INTO numbers VALUES (?)").run(number);
const written = (): unknown[] =>
  database
    .prepare("SELECT number FROM numbers ORDER BY number")
    .all()
    .map(({ number }) => number);

test("the changes of one round of the event loop are one commit", async () => {
  await Promise.all([group.add(insert(1)), group.add(insert(2)), group.add(insert(3))]);
  expect(written()).toEqual([1, 2, 3]);
  expect(commits).toBe(1);
  await group.add(insert(4));
  expect(commits).toBe(2);
});

test("a change that fails does not affect the others", async () => {
  const results = await Promise.allSettled([group.add(insert(1)), group.add(insert(1)), group.add(insert(2))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(written()).toEqual([1, 2]);
});

test("the hook `finish` runs as the last change of a transaction, and its state is reset after a rollback", async () => {
  let sum = 0;
  const count = (number: number) => (): void => {
    sum += number;
    insert(number)();
  };
  const adding = new WriteGroup(database, { finish: () => insert(sum + 1000)(), onEnd: () => (sum = 0) });
  await Promise.all([adding.add(count(1)), adding.add(count(2))]);
  expect(written()).toEqual([1, 2, 1003]);
  const results = await Promise.allSettled([adding.add(count(10)), adding.add(count(1)), adding.add(count(40))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(written()).toEqual([1, 2, 10, 40, 1003, 1010, 1040]);
});

test("under load, the changes of several rounds are one commit, and a single change never waits", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await group.add(insert(1));
  await group.add(insert(2));
  await Promise.all([group.add(insert(3)), group.add(insert(4))]);
  expect(commits).toBe(3);
  const busy = [group.add(insert(5))];
  await nextTurn();
  busy.push(group.add(insert(6)));
  await nextTurn();
  expect(commits).toBe(3);
  vi.advanceTimersByTime(2);
  await Promise.all(busy);
  expect([written(), commits]).toEqual([[1, 2, 3, 4, 5, 6], 4]);
});

test("every change fails when nothing can be written", async () => {
  database.exec("PRAGMA query_only = 1");
  const results = await Promise.allSettled([group.add(insert(1)), group.add(insert(2))]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(commits).toBe(0);
});

test("disposal commits the waiting changes", async () => {
  const promise = group.add(insert(1));
  group[Symbol.dispose]();
  expect(written()).toEqual([1]);
  database.close();
  await promise;
});
