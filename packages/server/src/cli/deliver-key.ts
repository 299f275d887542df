import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { NewKey } from "../accounts/keys/hash-key.ts";
import type { KeyStore } from "../accounts/keys/key-store.ts";
import type { Perform } from "../accounts/manage/perform.ts";
import { makePrivateFolder } from "../state/private-file.ts";

/** Creates a key with default limits if there are no keys yet. @returns undefined if there are keys already */
export async function makeFirstKey(
  keys: KeyStore,
  perform: Perform,
): Promise<Pick<NewKey, "id" | "token"> | undefined> {
  if ((await keys.list()).length > 0) return undefined;
  const { key, token } = await perform("createKey", { id: undefined, query: {}, body: { name: "first key" } });
  return { id: key.id, token };
}

export interface Delivered {
  /** A text for a separate line. */
  readonly text: string;
  /** The key as a shell word, for an example command. */
  readonly forShell: string;
  /** For programs: the key, or the file that contains it. */
  readonly fields: { readonly key: string } | { readonly key_file: string };
}

/**
 * Returns a key for a terminal, or, without a terminal, writes it to a file that only its owner may read.
 * @param isWatched true if the output is a terminal
 */
export function deliverKey(key: Pick<NewKey, "id" | "token">, dataDir: string, isWatched: boolean): Delivered {
  const { token } = key;
  if (isWatched) return { text: `${token} (shown this once)`, forShell: token, fields: { key: token } };
  const file = keyFile(key.id, dataDir);
  // With PostgreSQL, a command on a machine without a server finds no data folder.
  makePrivateFolder(dataDir);
  // The file of a rotated key has the same name as that of the key before.
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return { text: `in ${file}`, forShell: `$(cat ${file})`, fields: { key_file: file } };
}

/** Removes the file to which a key was written, if there is one. */
export const forgetDelivery = (id: string, dataDir: string): void => rmSync(keyFile(id, dataDir), { force: true });

const keyFile = (id: string, dataDir: string): string => resolve(join(dataDir, `key-${id}`));
