import { randomBytes } from "node:crypto";
import type { StoredGroup } from "../groups/group-store.ts";
import { assertBudgetLeft, assertGroupRules } from "../groups/check-group.ts";
import { spanOf } from "../money/budgets.ts";
import { isWithin, reachOf } from "./actor.ts";
import type { Actor } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import type { ChangeStores } from "./managed-state.ts";
import { fitRaise } from "./raise.ts";
import { changing, pageOf } from "./verb.ts";
import type { Done, ReadVerb, VerbContext } from "./verb.ts";
import { toGroup, toGroupChange } from "./wire.ts";

/** Verbs about groups. The owner of a group may see it and the groups in it, and changes none of them. */

interface Changing extends VerbContext {
  readonly stores: ChangeStores;
}

const noGroup = (id: string): ManageError => new ManageError("not_found", `There is no group ${id}.`, "id");

/** @throws {ManageError} `not_found`, also for a group that the actor may not see */
async function findGroup(stores: ChangeStores, actor: Actor, id: string): Promise<StoredGroup> {
  const groups = await stores.groups.list();
  const group = groups.find((one) => one.id === id);
  if (!group || !isWithin(reachOf(actor, groups), id)) throw noGroup(id);
  return group;
}

/** @throws {ManageError} `outside_group` for the owner of a group */
function assertOperator({ key }: Actor): void {
  if (key?.groupId === undefined) return;
  throw new ManageError("outside_group", "This admin key is bound to a group, so it cannot change groups.");
}

/** Returns groups as the admin API shows them. */
async function showGroups({ state, nowMs }: VerbContext, groups: readonly StoredGroup[]) {
  const names = await state.groups.names();
  const counts = Map.groupBy(await state.keys.list(), ({ groupId }) => groupId);
  const shown = [];
  for (const group of groups) {
    const { fromMs, toMs } = spanOf(group, nowMs);
    const spentUsd = await state.ledger.groupSpentUsd(group.id, { fromMs, toMs });
    const parent = names.get(group.parentId ?? "") ?? null;
    shown.push(toGroup(group, { spentUsd, toMs, keys: counts.get(group.id)?.length ?? 0, parent }, nowMs));
  }
  return shown;
}

async function showGroup(context: VerbContext, group: StoredGroup) {
  const [shown] = await showGroups(context, [group]);
  if (!shown) throw noGroup(group.id);
  return shown;
}

/** Returns a group as the audit log has it: without facts that are not a part of the change. */
function recorded(group: StoredGroup, nowMs: number): object {
  const facts = { spentUsd: "0", toMs: 0, keys: 0, parent: null };
  const { keys: _keys, spent_usd: _spent, resets_at: _reset, parent: _name, ...rules } = toGroup(group, facts, nowMs);
  return rules;
}

const targetOf = ({ id, name }: StoredGroup): Done<unknown>["target"] => ({ id, name, groupId: id });

async function changeGroup(
  { stores, actor, nowMs }: Changing,
  id: string,
  change: (group: StoredGroup) => Promise<boolean>,
): Promise<Done<StoredGroup>> {
  const group = await findGroup(stores, actor, id);
  assertOperator(actor);
  if (!(await change(group))) throw noGroup(id);
  const after = (await stores.groups.find(id)) ?? group;
  return { result: after, target: targetOf(after), before: recorded(group, nowMs), after: recorded(after, nowMs) };
}

const listGroups: ReadVerb<"listGroups"> = {
  read: async (context, { query }) => {
    const { state, actor } = context;
    const all = await state.groups.list();
    const reach = reachOf(actor, all);
    const seen = all.filter(({ id, name }) => isWithin(reach, id) && (query.name === undefined || name === query.name));
    const { entries, next } = pageOf(seen, query);
    return { data: await showGroups(context, entries), next };
  },
};

const getGroup: ReadVerb<"getGroup"> = {
  read: async (context, { id }) => showGroup(context, await findGroup(context.state, context.actor, id)),
};

const createGroup = changing<"createGroup", StoredGroup>({
  change: async ({ stores, actor, nowMs, resolveModel }, { body }) => {
    assertOperator(actor);
    const rules = { ...toGroupChange(body, resolveModel, nowMs), name: body.name };
    const group: StoredGroup = { ...rules, id: `grp_${randomBytes(6).toString("hex")}`, createdMs: nowMs };
    await stores.groups.insert(group);
    return { result: group, target: targetOf(group), after: recorded(group, nowMs) };
  },
  show: showGroup,
});

const updateGroup = changing<"updateGroup", StoredGroup>({
  check: async ({ state, actor, nowMs, resolveModel }, { id, query, body }) => {
    const group = await findGroup(state, actor, id);
    assertOperator(actor);
    const change = toGroupChange(body, resolveModel, nowMs);
    // The spent amount can only be looked up for a period that exists.
    assertGroupRules({ ...group, ...change }, await state.groups.list());
    if (query.force !== true) await assertBudgetLeft(state.ledger, group, change, nowMs);
  },
  change: (context, { id, body }) =>
    changeGroup(context, id, (group) => {
      const change = toGroupChange(body, context.resolveModel, context.nowMs);
      return context.stores.groups.update(id, fitRaise(change, group));
    }),
  show: showGroup,
});

const disableGroup = changing<"disableGroup", StoredGroup>({
  change: (context, { id }) => changeGroup(context, id, () => context.stores.groups.disable(id, context.nowMs)),
  show: showGroup,
});

const enableGroup = changing<"enableGroup", StoredGroup>({
  change: (context, { id }) => changeGroup(context, id, () => context.stores.groups.enable(id)),
  show: showGroup,
});

const deleteGroup = changing<"deleteGroup", StoredGroup>({
  change: async (context, { id }) => {
    const { stores, nowMs } = context;
    const { after: _gone, ...done } = await changeGroup(context, id, async ({ name }) => {
      const owners = (await stores.adminKeys.list()).filter(({ groupId }) => groupId === id);
      if (owners.length > 0)
        throw new ManageError(
          "conflict",
          `The group ${name} still has admin keys (${owners.map((owner) => owner.name).join(", ")}). Delete them first.`,
        );
      return stores.groups.delete(id, nowMs);
    });
    return done;
  },
  show: async () => undefined,
});

export const groupVerbs = { listGroups, getGroup, createGroup, updateGroup, disableGroup, enableGroup, deleteGroup };
