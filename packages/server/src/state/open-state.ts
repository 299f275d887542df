import type { KeyStore } from "../accounts/keys/key-store.ts";
import type { UsageLedger } from "../accounts/ledger/usage-ledger.ts";
import { assertDataFolder, openDatabase } from "./database.ts";
import { DiskSync } from "./disk-sync.ts";
import { readSecret } from "./tables.ts";
import { SqliteKeyStore } from "./sqlite-key-store.ts";
import { SqliteUsageLedger } from "./sqlite-usage-ledger.ts";

/** Maximum milliseconds until a server sees that a command in another process has changed a key. */
const staleKeyMs = 10;

/** The persistent state of a server. Several processes may have it open at the same time: a server and commands. */
export interface State extends Disposable {
  readonly keys: KeyStore;
  readonly ledger: UsageLedger;
  /** 32 random bytes that were generated with the tables. They stay the same at every start, and in backups. */
  readonly cacheSecret: Uint8Array;
}

/** Opens the state in a data folder, and creates both on first use. @throws {StateError} */
export function openState(dataDir: string): State {
  const database = openDatabase(dataDir);
  const sync = new DiskSync(database);
  const ledger = new SqliteUsageLedger(database, sync);
  return {
    keys: new SqliteKeyStore(database, staleKeyMs),
    ledger,
    cacheSecret: readSecret(database, "prompt-cache"),
    [Symbol.dispose]: () => {
      ledger[Symbol.dispose]();
      sync[Symbol.dispose]();
      database.close();
    },
  };
}

/** Opens existing state. @throws {StateError} if there is none */
export function openExistingState(dataDir: string): State {
  assertDataFolder(dataDir);
  return openState(dataDir);
}
