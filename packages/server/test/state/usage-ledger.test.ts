import { describe, expect, test } from "vitest";
import { assertCase, findViolations, usageLedgerContract } from "@parley/server/testing";
import type { UsageLedger, UsageLedgerSubject } from "@parley/server/testing";
import { always } from "../../src/accounts/money/period.ts";
import { DiskSync } from "../../src/state/disk-sync.ts";
import { SqliteUsageLedger } from "../../src/state/sqlite-usage-ledger.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

async function openSqlite(): Promise<UsageLedgerSubject & AsyncDisposable> {
  const folder = new DataFolder();
  const database = folder.open();
  return {
    ledger: new SqliteUsageLedger(database, new DiskSync(database)),
    restart: async () => {
      folder.close(database);
      const other = folder.open();
      return new SqliteUsageLedger(other, new DiskSync(other));
    },
    refuseWrites: async (isRefused) => database.exec(`PRAGMA query_only = ${Number(isRefused)}`),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("the usage ledger in SQLite", () => {
  test.each(usageLedgerContract)("$title", (one) => assertCase(one, openSqlite));
});

describe("the contract notices a ledger that", () => {
  const broken: readonly (readonly [
    what: string,
    breakLedger: (ledger: UsageLedger) => Partial<UsageLedger>,
    title: RegExp,
  ])[] = [
    ["charges every call of close", chargeAlways, /^closes an entry once/],
    ["adds up in binary fractions", roundSpending, /^adds up what a key has spent exactly/],
    ["knows no months", (ledger) => ({ spentUsd: (keyId) => ledger.spentUsd(keyId) }), /^adds up .* in each month/],
    [
      "selects nothing",
      (ledger) => ({ entries: () => ledger.entries() }),
      /^goes through the entries that are selected/,
    ],
    ["adds up all entries", (ledger) => ({ sum: (_none, by) => ledger.sum({}, by) }), /^adds up entries by key/],
    ["lists no months", (ledger) => ({ spentByKey: () => ledger.spentByKey() }), /^tells what all keys have spent/],
    ["prunes what runs, too", (ledger) => ({ prune: async (ms) => (await ledger.prune(ms)) + 1 }), /^prunes closed/],
    ["holds nothing", (ledger) => ({ open: holdNothing(ledger) }), /^holds the maximum cost/],
    ["never releases a hold", (ledger) => ({ withdraw: async (id) => void (await ledger.find(id)) }), /^withdraws an/],
    ["knows no groups", (ledger) => ({ open: forgetGroups(ledger) }), /^keeps the groups of an entry/],
    ["sees no budget of a group", (ledger) => ({ open: ignoreGroups(ledger) }), /^names the tightest of the budgets/],
    [
      "knows no spans",
      (ledger) => ({ groupSpentUsd: (id) => ledger.groupSpentUsd(id, always) }),
      /^gives a period its/,
    ],
    ["joins nothing", () => ({ joinOldSpending: async () => 0 }), /^joins old spending: all time/],
    ["keeps no checkpoints", () => ({ checkpoint: async () => undefined }), /^tells the successor/],
    ["has nothing abandoned", () => ({ abandoned: async () => [] }), /^tells the successor/],
    ["hides that it cannot write", hideFailures, /^rejects what cannot be written/],
    ["believes that it can always write", () => ({ assertWritable: async () => undefined }), /^rejects what cannot/],
  ];

  test.each(broken)("%s", async (_what, breakLedger, title) => {
    const violations = await findViolations(usageLedgerContract, async () => {
      const subject = await openSqlite();
      const spoil = (ledger: UsageLedger): UsageLedger => override(ledger, breakLedger(ledger));
      return { ...subject, ledger: spoil(subject.ledger), restart: async () => spoil(await subject.restart()) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });
});

function chargeAlways(ledger: UsageLedger): Partial<UsageLedger> {
  let spent = 0;
  return {
    close: async (record) => {
      spent += Number(record.costUsd);
      await ledger.close(record);
    },
    spentUsd: async () => String(spent),
  };
}

const roundSpending = (ledger: UsageLedger): Partial<UsageLedger> => ({
  spentUsd: async (keyId) => String(Math.fround(Number(await ledger.spentUsd(keyId)))),
});

/** Opens entries without holds. */
const holdNothing =
  (ledger: UsageLedger): UsageLedger["open"] =>
  async (record, hold) => {
    await ledger.open(record);
    return hold && { maxTokens: hold.bound.maxTokens, heldUsd: "0" };
  };

const forgetGroups =
  (ledger: UsageLedger): UsageLedger["open"] =>
  ({ groupIds: _groups, ...record }, hold) =>
    ledger.open(record, hold);

const ignoreGroups =
  (ledger: UsageLedger): UsageLedger["open"] =>
  (record, hold) =>
    ledger.open(record, hold && { ...hold, budgets: { ...hold.budgets, budgetUsd: "1", groups: undefined } });

const hideFailures = (ledger: UsageLedger): Partial<UsageLedger> => ({
  close: (record) => ledger.close(record).catch(() => undefined),
});
