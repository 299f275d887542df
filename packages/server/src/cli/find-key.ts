import { typed } from "../state/typed.ts";

/**
 * Returns the id of the key with this id, or with this name if only one key has it.
 * @param names names of the keys by id
 * @param command the command whose list shows them
 * @throws {Error} if no key matches, or several keys have the name
 */
export function findKeyId(names: ReadonlyMap<string, string>, idOrName: string, command = "keys"): string {
  if (names.has(idOrName)) return idOrName;
  const [id, ...others] = [...names].flatMap(([one, name]) => (name === idOrName ? [one] : []));
  if (id === undefined) throw new Error(`There is no key ${idOrName}. To see them all: ${typed(`${command} list`)}`);
  if (others.length > 0)
    throw new Error(`Several keys are called ${idOrName}. Name one by its id: ${[id, ...others].join(", ")}.`);
  return id;
}
