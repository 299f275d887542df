import type { KeyStore } from "../auth/key-store.ts";
import type { UsageLedger } from "../metering/usage-ledger.ts";
import { assertDataFolder, openDatabase } from "./database.ts";
import { DiskSync } from "./disk-sync.ts";
import { readSecret } from "./tables.ts";
import { SqliteKeyStore } from "./sqlite-key-store.ts";
import { SqliteUsageLedger } from "./sqlite-usage-ledger.ts";

/** How long a server may take to see that a command beside it has changed a key. */
const staleKeyMs = 10;

/** What outlives a server. Several processes may have it open at the same time: a server and the commands beside it. */
export interface State extends Disposable {
  readonly keys: KeyStore;
  readonly ledger: UsageLedger;
  /** 32 bytes that were drawn when the tables were made: the same at every start, and in a backup. */
  readonly cacheSecret: Uint8Array;
}

/** Opens the state in a data folder, and makes both on first use. @throws {StateError} */
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

/** Opens the state that a server or a command has made before. @throws {StateError} where none has */
export function openExistingState(dataDir: string): State {
  assertDataFolder(dataDir);
  return openState(dataDir);
}
