import type { IncomingMessage } from "node:http";
import type { AdminKeyStore, StoredAdminKey } from "../accounts/admin-keys/admin-key-store.ts";
import type { GroupStore } from "../accounts/groups/group-store.ts";
import { hashSecret, isSameHash } from "../accounts/keys/hash-key.ts";

/** Minimum milliseconds between two writes of the last use of one admin key. */
const minUseMs = 60_000;

export interface FoundAdmin {
  /** Undefined if the token is not accepted, for any reason. */
  readonly key: StoredAdminKey | undefined;
  /** The admin key that a token with a right secret names, also if it is disabled or expired. */
  readonly known: StoredAdminKey | undefined;
}

/** Finds the admin key that a token identifies. */
export function adminFinder(
  { adminKeys, groups }: { readonly adminKeys: AdminKeyStore; readonly groups: Pick<GroupStore, "list"> },
  nowMs: () => number,
): (token: string | undefined) => Promise<FoundAdmin> {
  return async (token = "") => {
    const [, id, secret = ""] = /^parley_admin_([0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
    const stored = id === undefined ? undefined : await adminKeys.find(id);
    // A hash is always compared, so the time does not reveal whether the id exists.
    const isRight = isSameHash(hashSecret(secret), stored?.hash ?? noHash);
    const known = isRight ? stored : undefined;
    if (!known || !isActive(known, nowMs())) return { key: undefined, known };
    if (known.groupId !== undefined && (await isGroupDisabled(groups, known.groupId))) return { key: undefined, known };
    // A database that can only be read, such as one on a full disk, must still answer.
    if (nowMs() - (known.lastUsedMs ?? 0) >= minUseMs)
      await adminKeys.noteUse(known.id, nowMs()).catch(() => undefined);
    return { key: known, known };
  };
}

const noHash = "0".repeat(64);

const isActive = ({ disabledMs, expiresMs }: StoredAdminKey, nowMs: number): boolean =>
  disabledMs === undefined && (expiresMs === undefined || expiresMs > nowMs);

async function isGroupDisabled(store: Pick<GroupStore, "list">, id: string): Promise<boolean> {
  const groups = await store.list();
  const own = groups.find((group) => group.id === id);
  const parent = groups.find((group) => group.id === own?.parentId);
  return own?.disabledMs !== undefined || parent?.disabledMs !== undefined;
}

/** Returns the bearer token of a request; undefined if there is none, or more than one header. */
export function tokenOf({ rawHeaders }: IncomingMessage): string | undefined {
  const values = rawHeaders.filter(
    (_text, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  return values.length === 1 ? /^bearer[ ]+([!-~]+)$/i.exec(values[0]?.trim() ?? "")?.[1] : undefined;
}
