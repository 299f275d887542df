import type { Scope, StoredAdminKey } from "../admin-keys/admin-key-store.ts";
import type { AuditRecord } from "../audit/audit-log.ts";
import type { StoredGroup } from "../groups/group-store.ts";
import { ManageError } from "./manage-error.ts";

/** The one who uses a verb: an admin key, or a user of the operating system who types a command. */
export interface Actor {
  readonly kind: "admin_key" | "user";
  readonly name: string;
  readonly from: AuditRecord["from"];
  /** The admin key; undefined for a user, who may do everything. */
  readonly key?: StoredAdminKey | undefined;
}

export const toAuditActor = ({ kind, name, key }: Actor): AuditRecord["actor"] => ({ kind, name, id: key?.id });

/** @throws {ManageError} `missing_scope` */
export function assertScope({ key }: Actor, scope: Scope | undefined): void {
  if (!key || scope === undefined || key.scopes.includes(scope)) return;
  throw new ManageError(
    "missing_scope",
    `This needs the scope ${scope}, which the admin key ${key.name} does not have.`,
  );
}

/** The groups that an actor may see: that of its admin key and the groups in it; undefined: all groups and keys. */
export type Reach = ReadonlySet<string> | undefined;

export function reachOf({ key }: Actor, groups: readonly StoredGroup[]): Reach {
  if (key?.groupId === undefined) return undefined;
  const children = groups.filter(({ parentId }) => parentId === key.groupId);
  return new Set([key.groupId, ...children.map(({ id }) => id)]);
}

export const isWithin = (reach: Reach, groupId: string | undefined): boolean =>
  reach === undefined || (groupId !== undefined && reach.has(groupId));

/** @throws {ManageError} `outside_group` */
export function assertWithin(reach: Reach, groupId: string | undefined): void {
  if (isWithin(reach, groupId)) return;
  const place = groupId === undefined ? "outside of all groups" : `in the group ${groupId}`;
  throw new ManageError("outside_group", `This admin key is bound to a group, so nothing can be ${place}.`, "group_id");
}

/** A key or an admin key that may be disabled. */
interface Disableable {
  readonly name: string;
  readonly disabledMs?: number | undefined;
  readonly disabledByGroupId?: string | undefined;
}

/** True if the operator, or the owner of a group above that of the actor, keeps it disabled. */
const isDisabledAbove = (reach: Reach, { disabledMs, disabledByGroupId }: Disableable): boolean =>
  disabledMs !== undefined && !isWithin(reach, disabledByGroupId);

/** Returns the group whose owner disables it from now on; undefined: the operator does. */
export const disablerOf = ({ key }: Actor, reach: Reach, one: Disableable): string | undefined =>
  isDisabledAbove(reach, one) ? one.disabledByGroupId : key?.groupId;

/**
 * Checks that an owner neither enables nor deletes what the operator has disabled. The caller of an identity provider would get
 * a deleted key back.
 * @throws {ManageError} `disabled_by_operator`
 */
export function assertNotDisabledAbove(reach: Reach, one: Disableable): void {
  if (!isDisabledAbove(reach, one)) return;
  const who = one.disabledByGroupId === undefined ? "the operator" : `the owner of the group ${one.disabledByGroupId}`;
  throw new ManageError(
    "disabled_by_operator",
    `${one.name} was disabled by ${who}, so this admin key can neither enable nor delete it.`,
  );
}
