import type { GroupStore, StoredGroup } from "../accounts/groups/group-store.ts";
import { typed } from "../state/typed.ts";

/** Returns the group with this id or name. @throws {Error} if there is none */
export async function findGroup(store: GroupStore, idOrName: string): Promise<StoredGroup> {
  const group = (await store.list()).find(({ id, name }) => id === idOrName || name === idOrName);
  if (!group) throw new Error(`There is no group ${idOrName}. To see them all: ${typed("groups list")}`);
  return group;
}
