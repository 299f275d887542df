import { makeKey, withSecret } from "./hash-key.ts";
import type { NewKey } from "./hash-key.ts";
import type { KeyRules, KeyStore } from "./key-store.ts";

/** Makes a key and stores it. Its token is in the result only: it cannot be read again. */
export async function createKey(store: KeyStore, rules: KeyRules, nowMs: number): Promise<NewKey> {
  const key = makeKey();
  await store.insert({ ...rules, id: key.id, hash: key.hash, createdMs: nowMs });
  return key;
}

/**
 * Gives a key another secret under the same rules.
 * @param formerUntilMs until then the old secret works beside it; undefined: it stops working at once
 * @returns undefined: no such key
 */
export async function rotateKey(store: KeyStore, id: string, formerUntilMs?: number): Promise<NewKey | undefined> {
  const key = withSecret(id);
  return (await store.replaceHash(id, key.hash, formerUntilMs)) ? key : undefined;
}
