import { assertNotDisabledAbove, assertWithin, disablerOf, isWithin, reachOf } from "./actor.ts";
import type { Reach } from "./actor.ts";
import { assertRoom, chainOf, fitAll, limitedRules } from "./ceiling.ts";
import { isOfIdentity, makeKey, withSecret } from "../keys/hash-key.ts";
import type { KeyChange, StoredKey } from "../keys/key-store.ts";
import { monthOf } from "../money/month.ts";
import { ManageError } from "./manage-error.ts";
import type { ChangeStores } from "./managed-state.ts";
import { assertRaiseFits, fitRaise } from "./raise.ts";
import { changing, pageOf } from "./verb.ts";
import type { Done, ReadVerb, VerbContext } from "./verb.ts";
import { toKey, toKeyChange } from "./wire.ts";
import type { Spent } from "./wire.ts";

/** Verbs about keys. The owner of a group sees only the keys of its group and of the groups in it. */

interface Changing extends VerbContext {
  readonly stores: ChangeStores;
}

const noKey = (id: string): ManageError => new ManageError("not_found", `There is no key ${id}.`, "id");

/** @throws {ManageError} `not_found`, also for a key that the actor may not see */
async function findKey({ stores, actor }: Changing, id: string): Promise<{ key: StoredKey; reach: Reach }> {
  const reach = reachOf(actor, await stores.groups.list());
  const key = (await stores.keys.list()).find((one) => one.id === id);
  if (!key || !isWithin(reach, key.groupId)) throw noKey(id);
  return { key, reach };
}

const spentBy = async ({ state: { ledger }, nowMs }: VerbContext, id: string): Promise<Spent> => [
  await ledger.spentUsd(id),
  await ledger.spentUsd(id, monthOf(nowMs)),
];

const showKey = async (context: VerbContext, key: StoredKey) =>
  toKey(key, await spentBy(context, key.id), await context.state.groups.names(), context.nowMs);

/** Returns a key as the audit log has it: without its spending, which is not a part of the change. */
function recorded(key: StoredKey, nowMs: number): object {
  const {
    spent_usd: _ever,
    spent_this_month_usd: _month,
    group: _name,
    ...rules
  } = toKey(key, [undefined, undefined], new Map(), nowMs);
  return rules;
}

const targetOf = ({ id, name, groupId }: StoredKey): Done<unknown>["target"] => ({ id, name, groupId });

/** Changes one key with a method of its store. @returns the change with its record */
async function changeKey(
  context: Changing,
  id: string,
  change: (key: StoredKey, reach: Reach) => Promise<boolean>,
): Promise<Done<StoredKey>> {
  const { key, reach } = await findKey(context, id);
  if (!(await change(key, reach))) throw noKey(id);
  const after = (await context.stores.keys.list()).find((one) => one.id === id) ?? key;
  const record = { before: recorded(key, context.nowMs), after: recorded(after, context.nowMs) };
  return { result: after, target: targetOf(after), ...record };
}

/**
 * Checks the rules of a key that the owner of a group makes or changes against the group's ceilings. An operator may exceed them.
 * @param before the key; undefined: it is new
 */
async function withinCeilings(
  { stores: { groups }, nowMs }: Changing,
  reach: Reach,
  rules: KeyChange,
  groupId: string | undefined,
  before?: StoredKey,
): Promise<KeyChange> {
  if (reach === undefined) return rules;
  assertWithin(reach, groupId);
  const chain = chainOf(groupId, await groups.list());
  const fitted = fitAll(rules, chain);
  if (before) assertRaiseFits(fitted, before, chain, nowMs);
  return fitted;
}

/**
 * Checks the group of a new key, or of the one with `movedId`.
 * @throws {ManageError} `conflict` if the group does not exist, `above_ceiling` if it has no room for an owner's key
 */
async function assertGroup(
  { stores }: Changing,
  reach: Reach,
  groupId: string | undefined,
  movedId?: string,
): Promise<void> {
  if (groupId === undefined) return;
  const groups = await stores.groups.list();
  const chain = chainOf(groupId, groups);
  if (chain.length === 0) throw new ManageError("conflict", `There is no group ${groupId}.`, "group_id");
  if (reach !== undefined)
    assertRoom(
      chain,
      groups,
      (await stores.keys.list()).filter(({ id }) => id !== movedId),
    );
}

const listKeys: ReadVerb<"listKeys"> = {
  read: async ({ state, actor, nowMs }, { query }) => {
    const [reach, names] = [reachOf(actor, await state.groups.list()), await state.groups.names()];
    const keys = (await state.keys.list()).filter(
      (key) =>
        isWithin(reach, key.groupId) &&
        (query.group === undefined || key.groupId === query.group) &&
        (query.name === undefined || key.name === query.name) &&
        (query.state === undefined || toKey(key, [undefined, undefined], names, nowMs).state === query.state),
    );
    const { entries, next } = pageOf(keys, query);
    const [ever, month] = [await state.ledger.spentByKey(), await state.ledger.spentByKey(monthOf(nowMs))];
    return { data: entries.map((key) => toKey(key, [ever.get(key.id), month.get(key.id)], names, nowMs)), next };
  },
};

const getKey: ReadVerb<"getKey"> = {
  read: async (context, { id }) => showKey(context, (await findKey({ ...context, stores: context.state }, id)).key),
};

const createKey = changing<"createKey", { key: StoredKey; token: string }>({
  change: async (context, { body }) => {
    const { stores, actor, nowMs, resolveModel } = context;
    const reach = reachOf(actor, await stores.groups.list());
    const given = { ...toKeyChange(body, resolveModel, nowMs), name: body.name };
    const groupId = given.groupId ?? actor.key?.groupId;
    const fitted = await withinCeilings(context, reach, limitedRules(given), groupId);
    await assertGroup(context, reach, groupId);
    const { id, hash, token } = makeKey();
    const key: StoredKey = { ...fitted, name: body.name, groupId, id, hash, createdMs: nowMs };
    await stores.keys.insert(key);
    return { result: { key, token }, target: targetOf(key), after: recorded(key, nowMs) };
  },
  show: async (context, { key, token }) => ({ key: await showKey(context, key), token }),
});

const updateKey = changing<"updateKey", StoredKey>({
  change: async (context, { id, body }) =>
    changeKey(context, id, async (key, reach) => {
      const change = fitRaise(toKeyChange(body, context.resolveModel, context.nowMs), key);
      const groupId = "groupId" in change ? change.groupId : key.groupId;
      const isMoved = groupId !== key.groupId;
      // In its new group, all rules of the key count.
      const fitted = await withinCeilings(
        context,
        reach,
        isMoved ? limitedRules({ ...key, ...change }) : change,
        groupId,
        key,
      );
      if (isMoved) await assertGroup(context, reach, groupId, id);
      return context.stores.keys.update(id, onlyRules(fitted));
    }),
  show: showKey,
});

/** Removes the members of a key that are not rules. */
function onlyRules(fitted: KeyChange): KeyChange {
  const others = new Set(["id", "hash", "createdMs", "disabledMs", "disabledByGroupId", "former"]);
  return Object.fromEntries(Object.entries(fitted).filter(([name]) => !others.has(name))) as KeyChange; // its rules
}

/**
 * Checks that a key has a secret. With one, the entry of an identity would be a key, and its caller would be refused.
 * @throws {ManageError} `invalid_value`
 */
function assertHasSecret(key: StoredKey): void {
  if (!isOfIdentity(key)) return;
  const message = `${key.name} is a caller of an identity provider, so it has no secret to rotate. Create a key instead.`;
  throw new ManageError("invalid_value", message, "id");
}

const rotateKey = changing<"rotateKey", { key: StoredKey; token: string }>({
  change: async (context, { id, body: { overlap_seconds: overlap } }) => {
    const { hash, token } = withSecret(id);
    const untilMs = typeof overlap === "number" ? context.nowMs + overlap * 1000 : undefined;
    const done = await changeKey(context, id, (key) => {
      assertHasSecret(key);
      return context.stores.keys.replaceHash(id, hash, untilMs);
    });
    return { ...done, result: { key: done.result, token } };
  },
  show: async (context, { key, token }) => ({ key: await showKey(context, key), token }),
});

const disableKey = changing<"disableKey", StoredKey>({
  change: (context, { id }) =>
    changeKey(context, id, (key, reach) =>
      context.stores.keys.disable(id, context.nowMs, disablerOf(context.actor, reach, key)),
    ),
  show: showKey,
});

const enableKey = changing<"enableKey", StoredKey>({
  change: (context, { id }) =>
    changeKey(context, id, (key, reach) => {
      assertNotDisabledAbove(reach, key);
      return context.stores.keys.enable(id);
    }),
  show: showKey,
});

const deleteKey = changing<"deleteKey", StoredKey>({
  change: async (context, { id }) => {
    const { after: _gone, ...done } = await changeKey(context, id, (key, reach) => {
      assertNotDisabledAbove(reach, key);
      return context.stores.keys.delete(id, context.nowMs);
    });
    return done;
  },
  show: async () => undefined,
});

export const keyVerbs = { listKeys, getKey, createKey, updateKey, rotateKey, disableKey, enableKey, deleteKey };
