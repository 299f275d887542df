import type { components } from "@parley/contract/admin-types";
import type { Perform } from "../accounts/manage/perform.ts";
import { typed } from "../state/typed.ts";
import { listAll } from "./manage.ts";

/** Returns the group with this id or name. @throws {Error} if there is none */
export async function findGroup(perform: Perform, idOrName: string): Promise<components["schemas"]["Group"]> {
  const groups = await listAll(perform, "listGroups");
  const group = groups.find(({ id, name }) => id === idOrName || name === idOrName);
  if (!group) throw new Error(`There is no group ${idOrName}. To see them all: ${typed("groups list")}`);
  return group;
}
