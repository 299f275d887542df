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
