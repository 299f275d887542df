import type { components } from "@parley/contract/admin-types";
import type { AuditEntry } from "../audit/audit-log.ts";
import { reachOf } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import { changing } from "./verb.ts";
import type { ReadVerb } from "./verb.ts";
import { isoTime, orNull, timeOf, toMs } from "./wire.ts";

const toAuditEntry = (entry: AuditEntry): components["schemas"]["AuditEntry"] => ({
  id: entry.id,
  at: isoTime(entry.atMs),
  actor: { kind: entry.actor.kind, id: entry.actor.id ?? null, name: entry.actor.name },
  from: entry.from,
  action: entry.action,
  target: {
    id: entry.target.id ?? null,
    name: entry.target.name ?? null,
    group_id: entry.target.groupId ?? null,
  },
  outcome: entry.outcome,
  reason: entry.reason ?? null,
  attempts: entry.attempts,
  before: orNull(entry.before, toJsonObject),
  after: orNull(entry.after, toJsonObject),
});

const toJsonObject = (value: object): Record<string, unknown> => ({ ...value });

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

export const auditVerbs = { listAudit, pruneAudit };
