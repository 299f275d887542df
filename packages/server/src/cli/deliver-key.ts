import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { NewKey } from "../auth/hash-key.ts";
import { createKey } from "../auth/issue-key.ts";
import type { KeyStore } from "../auth/key-store.ts";

/** A key for whoever starts the first server, without limits of its own. @returns undefined: there are keys already */
export async function makeFirstKey(keys: KeyStore): Promise<NewKey | undefined> {
  const { length } = await keys.list();
  return length === 0 ? createKey(keys, { name: "first key" }, Date.now()) : undefined;
}

export interface Delivered {
  /** For a line of its own. */
  readonly text: string;
  /** What stands for the key in a command. */
  readonly forShell: string;
  /** For a program: the key, or the file that has it. */
  readonly fields: { readonly key: string } | { readonly key_file: string };
}

/** Shows a key once: on a terminal, or, where none is watching, in a file that only its owner may read. */
export function deliverKey(key: NewKey, dataDir: string, isWatched: boolean): Delivered {
  const { token } = key;
  if (isWatched) return { text: `${token} (shown this once)`, forShell: token, fields: { key: token } };
  const file = keyFile(key.id, dataDir);
  // A rotated key has the name of the one before.
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return { text: `in ${file}`, forShell: `$(cat ${file})`, fields: { key_file: file } };
}

/** Removes the file in which a key was delivered, if it was. */
export const forgetDelivery = (id: string, dataDir: string): void => rmSync(keyFile(id, dataDir), { force: true });

const keyFile = (id: string, dataDir: string): string => resolve(join(dataDir, `key-${id}`));
