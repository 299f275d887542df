import { statSync } from "node:fs";
import type { IdempotencyStore } from "../accounts/idempotency/idempotency-store.ts";
import type { ChangeStores, Transact } from "../accounts/manage/managed-state.ts";
import type { UsageLedger } from "../accounts/ledger/usage-ledger.ts";
import type { ServerRegister } from "../accounts/servers/server-register.ts";
import { databaseFile } from "./database-file.ts";
import { assertDataFolder, openDatabase } from "./database.ts";
import { DiskSync } from "./disk-sync.ts";
import type { Report } from "./postgres/migrate.ts";
import { openPostgres } from "./postgres/open-postgres.ts";
import { readSecret } from "./tables.ts";
import { SqliteGroupStore } from "./sqlite-group-store.ts";
import { SqliteIdempotencyStore } from "./sqlite-idempotency-store.ts";
import { SqliteKeyStore } from "./sqlite-key-store.ts";
import { SqliteUsageLedger } from "./sqlite-usage-ledger.ts";
import { SqlAdminKeyStore } from "./sql-admin-key-store.ts";
import { SqlAuditLog } from "./sql-audit-log.ts";
import { sqliteSql } from "./sql.ts";
import { neverBlock, transactor } from "./transaction.ts";

/** Maximum milliseconds until a server sees that a command in another process has changed a key. */
const staleKeyMs = 10;

/** The persistent state of a server. Several processes may have it open at the same time: servers and commands. */
export interface State extends ChangeStores {
  readonly ledger: UsageLedger;
  readonly transact: Transact;
  readonly idempotency: IdempotencyStore;
  /** Frees the idempotency keys that a dead server has left; undefined where the servers find out by themselves. */
  readonly freeClaims?: () => void;
  /** The servers that share the state; undefined where only one server at a time can use it. */
  readonly register?: ServerRegister | undefined;
  /** 32 random bytes that were generated with the tables. They stay the same at every start, and in backups. */
  readonly cacheSecret: Uint8Array;
  /** Returns the bytes that it takes on this machine's disk; undefined for PostgreSQL, which has metrics of its own. */
  readonly databaseBytes?: () => number;
}

/** State in the place that a configuration names. */
export type OpenedState = State & (Disposable | AsyncDisposable);

/** The place of a state. */
interface Place {
  /** A folder. It has the state if `databaseUrl` is undefined. */
  readonly dataDir: string;
  /** The address of PostgreSQL, with its password. */
  readonly databaseUrl: string | undefined;
}

const tell: Report = (line) => void process.stderr.write(`${line}\n`);

/** Opens the state of a configuration, and creates it on first use. @throws {StateError} */
export const openStateOf = async ({ dataDir, databaseUrl }: Place, report = tell): Promise<OpenedState> =>
  databaseUrl === undefined ? openState(dataDir) : openPostgres(databaseUrl, { report });

/** Opens the existing state of a configuration. @throws {StateError} if there is none */
export async function openExistingStateOf(place: Place): Promise<OpenedState> {
  if (place.databaseUrl === undefined) assertDataFolder(place.dataDir);
  return openStateOf(place);
}

/** Opens the state in a data folder, and creates both on first use. @throws {StateError} */
export function openState(dataDir: string): State & Disposable {
  const database = openDatabase(dataDir);
  neverBlock(database);
  const sync = new DiskSync(database);
  const ledger = new SqliteUsageLedger(database, sync);
  const idempotency = new SqliteIdempotencyStore(database);
  const keys = new SqliteKeyStore(database, staleKeyMs);
  const groups = new SqliteGroupStore(database, () => keys.forgetAll());
  const sql = sqliteSql(database);
  const stores = { keys, groups, adminKeys: new SqlAdminKeyStore(sql), audit: new SqlAuditLog(sql) };
  // While a transaction was open, `find` may have seen changes that were rolled back later.
  const run = transactor(database, () => keys.forgetAll());
  return {
    ...stores,
    transact: (work) => run(() => work(stores)),
    ledger,
    idempotency,
    freeClaims: () => idempotency.freeClaims(),
    cacheSecret: readSecret(database, "prompt-cache"),
    databaseBytes: () => bytesOf(databaseFile(dataDir)),
    [Symbol.dispose]: () => {
      ledger[Symbol.dispose]();
      sync[Symbol.dispose]();
      database.close();
    },
  };
}

/** Returns the size of a database with its write-ahead log. */
const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
