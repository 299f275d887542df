import { makeKey, withSecret } from "./hash-key.ts";
import type { NewKey } from "./hash-key.ts";
import type { KeyRules, KeyStore } from "./key-store.ts";

/** Creates a key and stores it. The returned token is not stored, and cannot be read again. */
export async function createKey(store: KeyStore, rules: KeyRules, nowMs: number): Promise<NewKey> {
  const key = makeKey();
  await store.insert({ ...rules, id: key.id, hash: key.hash, createdMs: nowMs });
  return key;
}

/**
 * Gives a key a new secret. Its rules stay.
 * @param formerUntilMs the time until which the old secret still works; undefined: it stops working at once
 * @returns undefined if there is no such key
 */
export async function rotateKey(store: KeyStore, id: string, formerUntilMs?: number): Promise<NewKey | undefined> {
  const key = withSecret(id);
  return (await store.replaceHash(id, key.hash, formerUntilMs)) ? key : undefined;
}
