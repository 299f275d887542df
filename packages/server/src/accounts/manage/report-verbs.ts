import { environmentKey } from "../keys/find-caller.ts";
import type { UsageCounts } from "../ledger/sum-usage.ts";
import { addUsd } from "../money/price.ts";
import { isWithin, reachOf } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import { changing } from "./verb.ts";
import type { ReadVerb } from "./verb.ts";
import { toAuditEntry, toMs } from "./wire.ts";

const timeOf = (text: string | undefined, param: string): number | undefined =>
  text === undefined ? undefined : toMs(text, param);

const add = (one: UsageCounts, other: UsageCounts): UsageCounts => ({
  requests: one.requests + other.requests,
  prompt_tokens: one.prompt_tokens + other.prompt_tokens,
  cached_tokens: one.cached_tokens + other.cached_tokens,
  completion_tokens: one.completion_tokens + other.completion_tokens,
  reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
  cost_usd: addUsd(one.cost_usd, other.cost_usd),
});

/** Sums up the usage of all keys, or of those that are now in the groups that are asked for and may be seen. */
const getUsage: ReadVerb<"getUsage"> = {
  read: async ({ state, actor }, { query }) => {
    const { by = "key", key: keyId, group } = query;
    const selection = { sinceMs: timeOf(query.since, "since"), untilMs: timeOf(query.until, "until"), keyId };
    const reach = reachOf(actor, await state.groups.list());
    const isWhole = reach === undefined && group === undefined;
    const members = (await state.keys.list()).filter(
      ({ groupId }) => isWithin(reach, groupId) && (group === undefined || groupId === group),
    );
    const ids = members.map(({ id }) => id).filter((id) => keyId === undefined || id === keyId);
    const selections = isWhole ? [selection] : ids.map((id) => ({ ...selection, keyId: id }));
    const sums = new Map<string, UsageCounts>();
    for (const one of selections)
      for (const [name, counts] of await state.ledger.sum(one, by)) {
        const before = sums.get(name);
        sums.set(name, before ? add(before, counts) : counts);
      }
    const names = new Map([...(await state.keys.names()), [environmentKey, "PARLEY_API_KEY"]]);
    const rows = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      data: rows.map(([name, counts]) => ({
        group: name,
        name: by === "key" ? (names.get(name) ?? null) : null,
        ...counts,
      })),
    };
  },
};

const listAudit: ReadVerb<"listAudit"> = {
  read: async ({ state, actor }, { query }) => {
    const { limit = 100, after, action, outcome, actor: by, target } = query;
    if (after !== undefined && !/^\d{1,15}$/.test(after))
      throw new ManageError("invalid_value", "after must be the `next` of a page.", "after");
    const reach = reachOf(actor, await state.groups.list());
    const entries = await state.audit.read(
      {
        sinceMs: timeOf(query.since, "since"),
        untilMs: timeOf(query.until, "until"),
        action,
        outcome,
        actor: by,
        targetId: target,
        within: reach && { groupIds: [...reach], adminKeyId: actor.key?.id ?? "" },
      },
      limit + 1,
      after === undefined ? undefined : Number(after),
    );
    const page = entries.slice(0, limit);
    return { data: page.map(toAuditEntry), next: entries.length > limit ? String(page.at(-1)?.id) : null };
  },
};

const pruneAudit = changing<"pruneAudit", { deleted: number }>({
  change: async ({ stores: { audit }, actor, nowMs }, { body: { before } }) => {
    if (actor.key?.groupId !== undefined)
      throw new ManageError("outside_group", "This admin key is bound to a group, so it cannot prune the audit log.");
    const beforeMs = toMs(before, "before");
    if (beforeMs > nowMs) throw new ManageError("invalid_value", "before must be in the past.", "before");
    const deleted = await audit.countBefore(beforeMs);
    const after = { deleted, before: new Date(beforeMs).toISOString() };
    const finish = (): Promise<void> => audit.deleteBefore(beforeMs);
    return { result: { deleted }, target: {}, after, prunesBeforeMs: beforeMs, finish };
  },
  show: async (_context, result) => result,
});

export const reportVerbs = { getUsage, listAudit, pruneAudit };
