import { randomBytes } from "node:crypto";
import { hashSecret } from "../keys/hash-key.ts";
import type { StoredAdminKey } from "../admin-keys/admin-key-store.ts";
import { assertNotDisabledAbove, assertScope, assertWithin, disablerOf, isWithin, reachOf } from "./actor.ts";
import type { Actor, Reach } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import type { ChangeStores } from "./managed-state.ts";
import { changing, pageOf } from "./verb.ts";
import type { Done, ReadVerb, VerbContext } from "./verb.ts";
import { toAdminKey, toFutureMs } from "./wire.ts";

/**
 * Verbs about admin keys. An admin key can make, change or delete another one only if that one has no further scopes. If it is
 * bound to a group, the other one must be bound to the same group or to one in it.
 */

interface Changing extends VerbContext {
  readonly stores: ChangeStores;
}

/** @throws {ManageError} `missing_scope` for a scope that the actor does not have */
const assertScopes = (actor: Actor, { scopes }: Pick<StoredAdminKey, "scopes">): void => {
  for (const scope of scopes) assertScope(actor, scope);
};

const targetOf = ({ id, name, groupId }: StoredAdminKey): Done<unknown>["target"] => ({ id, name, groupId });

/** Returns an admin key as the audit log has it: without its last use, which is not a part of the change. */
function recorded(key: StoredAdminKey, nowMs: number): object {
  const { last_used: _use, ...rules } = toAdminKey(key, nowMs);
  return rules;
}

async function changeAdminKey(
  { stores, actor, nowMs }: Changing,
  id: string,
  change: (key: StoredAdminKey, reach: Reach) => Promise<boolean>,
): Promise<Done<StoredAdminKey>> {
  const reach = reachOf(actor, await stores.groups.list());
  const key = await stores.adminKeys.find(id);
  if (!key || !isWithin(reach, key.groupId)) throw new ManageError("not_found", `There is no admin key ${id}.`, "id");
  assertScopes(actor, key);
  await change(key, reach);
  const after = (await stores.adminKeys.find(id)) ?? key;
  return { result: after, target: targetOf(after), before: recorded(key, nowMs), after: recorded(after, nowMs) };
}

const show = async ({ nowMs }: VerbContext, key: StoredAdminKey) => toAdminKey(key, nowMs);

const getSelf: ReadVerb<"getSelf"> = {
  read: async ({ actor: { key }, nowMs }) => {
    if (!key) throw new ManageError("not_found", "A command has no admin key.");
    return toAdminKey(key, nowMs);
  },
};

const listAdminKeys: ReadVerb<"listAdminKeys"> = {
  read: async ({ state, actor, nowMs }, { query }) => {
    const reach = reachOf(actor, await state.groups.list());
    const seen = (await state.adminKeys.list()).filter(
      ({ groupId, name }) =>
        isWithin(reach, groupId) &&
        (query.group === undefined || groupId === query.group) &&
        (query.name === undefined || name === query.name),
    );
    const { entries, next } = pageOf(seen, query);
    return { data: entries.map((key) => toAdminKey(key, nowMs)), next };
  },
};

const createAdminKey = changing<"createAdminKey", { key: StoredAdminKey; token: string }>({
  change: async ({ stores, actor, nowMs }, { body }) => {
    const { name, scopes, expires } = body;
    const groups = await stores.groups.list();
    const groupId = body.group_id ?? actor.key?.groupId;
    assertWithin(reachOf(actor, groups), groupId);
    if (groupId !== undefined && !groups.some(({ id }) => id === groupId))
      throw new ManageError("conflict", `There is no group ${groupId}.`, "group_id");
    assertScopes(actor, { scopes });
    const [id, secret] = [randomBytes(6).toString("hex"), randomBytes(32).toString("base64url")];
    const expiresMs = typeof expires === "string" ? toFutureMs(expires, nowMs) : undefined;
    const key: StoredAdminKey = { id, hash: hashSecret(secret), name, scopes, groupId, createdMs: nowMs, expiresMs };
    await stores.adminKeys.insert(key);
    const token = `parley_admin_${id}.${secret}`;
    return { result: { key, token }, target: targetOf(key), after: recorded(key, nowMs) };
  },
  show: async ({ nowMs }, { key, token }) => ({ admin_key: toAdminKey(key, nowMs), token }),
});

const disableAdminKey = changing<"disableAdminKey", StoredAdminKey>({
  change: (context, { id }) =>
    changeAdminKey(context, id, (key, reach) =>
      context.stores.adminKeys.disable(id, context.nowMs, disablerOf(context.actor, reach, key)),
    ),
  show,
});

const enableAdminKey = changing<"enableAdminKey", StoredAdminKey>({
  change: (context, { id }) =>
    changeAdminKey(context, id, (key, reach) => {
      assertNotDisabledAbove(reach, key);
      return context.stores.adminKeys.enable(id);
    }),
  show,
});

const deleteAdminKey = changing<"deleteAdminKey", StoredAdminKey>({
  change: async (context, { id }) => {
    const { after: _gone, ...done } = await changeAdminKey(context, id, (key, reach) => {
      assertNotDisabledAbove(reach, key);
      return context.stores.adminKeys.delete(id);
    });
    return done;
  },
  show: async () => undefined,
});

export const adminKeyVerbs = {
  getSelf,
  listAdminKeys,
  createAdminKey,
  disableAdminKey,
  enableAdminKey,
  deleteAdminKey,
};
