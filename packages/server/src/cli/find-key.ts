import { typed } from "./settings.ts";

/**
 * The id of the key that is meant by an id, or by a name that only one key has.
 * @param names of the keys in question, by id
 * @throws {Error} when there is none, or several
 */
export function findKeyId(names: ReadonlyMap<string, string>, idOrName: string): string {
  if (names.has(idOrName)) return idOrName;
  const [id, ...others] = [...names].flatMap(([one, name]) => (name === idOrName ? [one] : []));
  if (id === undefined) throw new Error(`There is no key ${idOrName}. To see them all: ${typed("keys list")}`);
  if (others.length > 0)
    throw new Error(`Several keys are called ${idOrName}. Name one by its id: ${[id, ...others].join(", ")}.`);
  return id;
}
