import assert from "node:assert/strict";
import { always } from "../../src/accounts/money/period.ts";
import type { Span } from "../../src/accounts/money/period.ts";
import { groupings, sumUsage } from "../../src/accounts/ledger/sum-usage.ts";
import type {
  CloseRecord,
  EntrySelection,
  GroupBudget,
  Hold,
  HoldRequest,
  OpenRecord,
  UsageLedger,
} from "../../src/accounts/ledger/usage-ledger.ts";
import type { ContractCase } from "./contract-case.ts";
import type { UsageLedgerSubject } from "./usage-ledger-contract.ts";

export const november: Span = { fromMs: Date.parse("2026-10-31T23:00Z"), toMs: Date.parse("2026-11-30T23:00Z") };
const december: Span = { fromMs: november.toMs, toMs: Date.parse("2026-12-31T23:00Z") };
export const inNovember = Date.parse("2026-11-15T12:00Z");

export const team = { id: "grp_b", name: "team", budgetUsd: "1", period: "month", timeZone: "Europe/Berlin" } as const;
/** Its id is before that of the team. */
export const company = { ...team, id: "grp_a", name: "company", budgetUsd: undefined } as const;
export const teamBudget: GroupBudget = { ...team, ...november };
export const companyBudget: GroupBudget = { ...company, ...november };

export const opened = (id: string, keyId = "key", startedMs = inNovember): OpenRecord => ({
  id,
  keyId,
  model: "vendor/model-1",
  isStream: false,
  startedMs,
  pricing: { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" },
  groupIds: [team.id, company.id],
});
/** 0.051 + 2 × 0.1 = 0.251 dollars. */
const bound = { fixedUsd: "0.051", perTokenUsd: "0.1", maxTokens: 2, isMaximumNamed: true };
export const held: Hold = { maxTokens: 2, heldUsd: "0.251" };
export const holdFor = (groups: readonly GroupBudget[], keyBudget?: string): HoldRequest => ({
  bound,
  budgets: { budgetUsd: keyBudget, monthlyBudgetUsd: undefined, groups },
});
const dollar = holdFor([teamBudget, companyBudget]);

export const closed = (id: string, costUsd: string, keyId = "key", endedMs = inNovember): CloseRecord => ({
  id,
  keyId,
  usage: { promptTokens: 5, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 },
  outcome: "complete",
  errorCode: undefined,
  costUsd,
  endedMs,
});

export async function spendAt(ledger: UsageLedger, id: string, startedMs: number, costUsd: string): Promise<void> {
  await ledger.open(opened(id, "key", startedMs));
  await ledger.close(closed(id, costUsd, "key", startedMs));
}

/** Opens entries of several keys at the same time. @returns the ids of those that the budgets pay for */
async function openMany(ledgers: readonly UsageLedger[], count: number, hold = dollar, name = "r"): Promise<string[]> {
  const all = await Promise.all(
    Array.from({ length: count }, async (_none, index) => {
      const ledger = ledgers[index % ledgers.length];
      const got = await ledger?.open(opened(`${name} ${index}`, `key ${index % 7}`), hold);
      return got && "maxTokens" in got ? [`${name} ${index}`] : [];
    }),
  );
  return all.flat();
}

export const keyOf = (id: string): string => `key ${Number(id.split(" ")[1]) % 7}`;

/** The cases about the budgets of groups. */
export const groupBudgetContract: readonly ContractCase<UsageLedgerSubject>[] = [
  {
    title: "keeps the groups of an entry, and adds up what each of them has spent by the starts of its entries",
    assert: async ({ ledger }) => {
      const record = opened("one");
      await ledger.open(record);
      assert.deepEqual((await ledger.find("one"))?.groupIds, record.groupIds);
      await ledger.close(closed("one", "0.1", "key", december.fromMs + 1));
      await spendAt(ledger, "last", november.toMs - 1, "0.02");
      await spendAt(ledger, "first", december.fromMs, "0.004");
      await ledger.open({ ...opened("own"), groupIds: [company.id] });
      await ledger.close(closed("own", "7"));
      await ledger.open({ ...opened("none"), groupIds: undefined });
      await ledger.close(closed("none", "100"));
      const spans = [november, december, always];
      const spent = (id: string): Promise<string[]> => Promise.all(spans.map((span) => ledger.groupSpentUsd(id, span)));
      assert.deepEqual(await spent(team.id), ["0.12", "0.004", "0.124"]);
      assert.deepEqual(await spent(company.id), ["7.12", "0.004", "7.124"]);
      assert.deepEqual(await spent("grp_c"), ["0", "0", "0"]);
      assert.equal(await ledger.prune(december.toMs), 5);
      assert.deepEqual(await spent(company.id), ["7.12", "0.004", "7.124"]);
    },
  },
  {
    title: "selects and adds up the entries of a group, and those of the groups in it",
    assert: async ({ ledger }) => {
      const other = { ...opened("other", "key 2"), groupIds: ["grp_c", company.id] };
      const own = { ...opened("own", "key 3"), groupIds: [company.id] };
      for (const record of [opened("one"), other, own, { ...opened("none"), groupIds: undefined }])
        await ledger.open(record);
      const ids = async (selection: EntrySelection): Promise<string> => {
        const found: string[] = [];
        for await (const { id } of ledger.entries(selection)) found.push(id);
        return found.join(" ");
      };
      assert.equal(await ids({ groupId: company.id }), "own");
      assert.equal(await ids({ groupId: team.id }), "one");
      assert.equal(await ids({ withinGroupId: company.id }), "one other own");
      assert.equal(await ids({ withinGroupId: team.id }), "one");
      assert.equal(await ids({ withinGroupId: company.id, groupId: "grp_c" }), "other");
      assert.equal(await ids({ withinGroupId: team.id, groupId: "grp_c" }), "");
      for (const by of groupings)
        for (const selection of [{ groupId: team.id }, { withinGroupId: company.id }] as const)
          assert.deepEqual(await ledger.sum(selection, by), await sumUsage(ledger.entries(selection), by));
    },
  },
  {
    title: "holds for as many racing requests of all keys of a group as its budget pays for, and for no more",
    assert: async ({ ledger }) => {
      const ids = await openMany([ledger], 300);
      assert.equal(ids.length, 3);
      const shortage = { restUsd: "0.247", heldUsd: "0.753", groupId: team.id };
      assert.deepEqual(await ledger.open(opened("another", "another"), dollar), shortage);
      assert.equal(await ledger.find("another"), undefined);
      await Promise.all(ids.map((id) => ledger.close(closed(id, "0.25", keyOf(id)))));
      assert.equal(await ledger.groupSpentUsd(team.id, november), "0.75");
      assert.deepEqual(await ledger.open(opened("another"), dollar), {
        restUsd: "0.25",
        heldUsd: "0",
        groupId: team.id,
      });
    },
  },
  {
    title: "names the tightest of the budgets of the key, its group and the group above it",
    assert: async ({ ledger }) => {
      const short = async (
        key?: string,
        own?: string,
        parent?: string,
        monthlyBudgetUsd?: string,
      ): Promise<unknown> => {
        const groups = [
          { ...teamBudget, budgetUsd: own },
          { ...companyBudget, budgetUsd: parent },
        ];
        const { bound: cost, budgets } = holdFor(groups, key);
        const got = await ledger.open(opened("one"), { bound: cost, budgets: { ...budgets, monthlyBudgetUsd } });
        assert.ok(got && "restUsd" in got);
        return [got.restUsd, got.groupId ?? (got.isMonthly ? "month" : undefined)];
      };
      assert.deepEqual(await short("0.1", "0.2", "0.24"), ["0.1", undefined]);
      assert.deepEqual(await short("0.2", "0.2", "0.24", "0.1"), ["0.1", "month"]);
      assert.deepEqual(await short("0.2", "0.1", "0.24", "0.15"), ["0.1", team.id]);
      assert.deepEqual(await short("1", "0.2", "0.1"), ["0.1", company.id]);
      assert.deepEqual(await short(undefined, undefined, "0.25"), ["0.25", company.id]);
      assert.deepEqual(await ledger.open(opened("one"), holdFor([teamBudget, companyBudget], "0.251")), held);
    },
  },
  {
    title: "counts other groups in the parent's budget, and holds in all of them or in none",
    assert: async ({ ledger }) => {
      const sister = { ...team, id: "grp_c", name: "sister", budgetUsd: undefined };
      const parent = { ...companyBudget, budgetUsd: "0.6" };
      assert.deepEqual(await ledger.open(opened("one"), holdFor([teamBudget, parent])), held);
      const record = { ...opened("two", "key 2"), groupIds: [sister.id, company.id] };
      assert.deepEqual(await ledger.open(record, holdFor([{ ...sister, ...november }, parent])), held);
      const shortage = { restUsd: "0.098", heldUsd: "0.502", groupId: company.id };
      assert.deepEqual(await ledger.open(opened("three"), holdFor([teamBudget, parent])), shortage);
      // The refused request holds nothing of the team's budget.
      assert.deepEqual(await ledger.open(opened("four"), holdFor([teamBudget, companyBudget])), held);
      assert.deepEqual(await ledger.open(opened("five"), holdFor([teamBudget, companyBudget])), held);
    },
  },
  {
    title:
      "gives a period its whole budget, whatever runs on from the one before, and charges that to where it started",
    assert: async ({ ledger }) => {
      const ids = await openMany([ledger], 9);
      assert.equal(ids.length, 3);
      const next = holdFor([
        { ...teamBudget, ...december },
        { ...companyBudget, ...december },
      ]);
      for (const id of ["a", "b", "c"])
        assert.deepEqual(await ledger.open(opened(id, "key", december.fromMs), next), held);
      for (const id of ids) await ledger.close(closed(id, "0.25", keyOf(id), december.fromMs + 5));
      assert.equal(await ledger.groupSpentUsd(team.id, november), "0.75");
      assert.equal(await ledger.groupSpentUsd(team.id, december), "0");
      const shortage = { restUsd: "0.247", heldUsd: "0.753", groupId: team.id };
      assert.deepEqual(await ledger.open(opened("d", "key", december.fromMs), next), shortage);
      // A clock that goes back finds the period before as it was.
      assert.deepEqual(await ledger.open(opened("d"), dollar), { restUsd: "0.25", heldUsd: "0", groupId: team.id });
    },
  },
  {
    title: "adds up the running period again when its zone or its length is changed",
    assert: async ({ ledger }) => {
      const start = Date.parse("2026-11-30T22:00Z");
      for (let slot = 0; slot < 8; slot += 1)
        await spendAt(ledger, `s ${slot}`, start + slot * 900_000, `0.${slot + 1}`);
      const restIn = async (span: Span, budgetUsd: string): Promise<unknown> => {
        const groups = [{ ...teamBudget, ...span, budgetUsd }, companyBudget];
        const got = await ledger.open(opened("never", "key", start + 7 * 900_000), {
          ...holdFor(groups),
          bound: { ...bound, fixedUsd: "1000" },
        });
        return got && "restUsd" in got ? got.restUsd : got;
      };
      for (const [span, spent] of [
        [november, 0.1 + 0.2 + 0.3 + 0.4],
        [december, 0.5 + 0.6 + 0.7 + 0.8],
        [always, 3.6],
        [{ fromMs: start + 900_000, toMs: start + 5 * 900_000 }, 0.2 + 0.3 + 0.4 + 0.5],
        [december, 0.5 + 0.6 + 0.7 + 0.8],
      ] as const) {
        assert.equal(await restIn(span, "100"), String(Math.round((100 - spent) * 10) / 10));
        assert.equal(await ledger.groupSpentUsd(team.id, span), String(Math.round(spent * 10) / 10));
      }
    },
  },
  {
    title: "adds up again what requests hold and have spent since, too",
    assert: async ({ ledger }) => {
      assert.deepEqual(await ledger.open(opened("one"), dollar), held);
      assert.deepEqual(await ledger.open(opened("two"), dollar), held);
      await ledger.close(closed("one", "0.2"));
      const forever = holdFor([{ ...teamBudget, ...always }, companyBudget]);
      assert.deepEqual(await ledger.open(opened("three"), forever), held);
      const shortage = { restUsd: "0.298", heldUsd: "0.502", groupId: team.id };
      const large = { ...forever, bound: { ...bound, fixedUsd: "0.2" } };
      assert.deepEqual(await ledger.open(opened("four"), large), shortage);
      await ledger.withdraw("two");
      assert.deepEqual(await ledger.open(opened("four"), { ...dollar, bound: large.bound }), {
        maxTokens: 2,
        heldUsd: "0.4",
      });
    },
  },
  {
    title: "releases the hold of every group when an entry is withdrawn or closed, once",
    assert: async ({ ledger }) => {
      const both = holdFor([teamBudget, { ...companyBudget, budgetUsd: "0.6" }]);
      for (const end of [(id: string) => ledger.withdraw(id), (id: string) => ledger.close(closed(id, "0"))]) {
        const id = String(end);
        assert.deepEqual(await ledger.open(opened(id), both), held);
        assert.deepEqual(await ledger.open(opened(`${id} 2`), both), held);
        await Promise.all([1, 2, 3].map(() => end(id)));
        await end(`${id} 2`);
      }
      assert.equal((await openMany([ledger], 9, both)).length, 2);
    },
  },
  {
    title: "keeps the holds of a dead server in its groups until its entries are closed",
    assert: async ({ ledger, restart }) => {
      assert.equal((await openMany([ledger], 9)).length, 3);
      const successor = await restart();
      assert.equal((await openMany([successor], 9, dollar, "next")).length, 0);
      for (const { id, keyId, groupIds } of await successor.abandoned()) {
        assert.deepEqual(groupIds, [team.id, company.id]);
        await successor.close(closed(id, "0", keyId));
      }
      assert.equal((await openMany([successor], 9, dollar, "later")).length, 3);
    },
  },
  {
    title: "changes nothing in the groups if the entry cannot be written",
    assert: async ({ ledger, refuseWrites }) => {
      await ledger.open(opened("one"));
      await assert.rejects(ledger.open(opened("one"), dollar));
      await refuseWrites(true);
      await assert.rejects(ledger.open(opened("two"), dollar));
      await refuseWrites(false);
      assert.equal((await openMany([ledger], 9)).length, 3);
    },
  },
];
