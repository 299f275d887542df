import type { NewKey } from "../src/accounts/keys/hash-key.ts";
import { createKey } from "../src/accounts/keys/issue-key.ts";
import type { KeyRules } from "../src/accounts/keys/key-store.ts";
import { openStateOf } from "../src/state/open-state.ts";
import { storesOf } from "./shared-stores.ts";

/** Creates a key in a data folder. A server may use the folder meanwhile. */
export async function makeKeyIn(dataDir: string, rules: Partial<KeyRules> = {}): Promise<NewKey> {
  await using state = await openStateOf({ dataDir, databaseUrl: storesOf(dataDir)?.databaseUrl });
  return await createKey(state.keys, { name: "test", ...rules }, Date.now());
}
