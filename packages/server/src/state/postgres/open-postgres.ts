import { randomUUID } from "node:crypto";
import { Client, Pool, types } from "pg";
import type { ClientConfig, PoolClient } from "pg";
import type { IdempotencyStore } from "../../accounts/idempotency/idempotency-store.ts";
import type { UsageLedger } from "../../accounts/ledger/usage-ledger.ts";
import type { ChangeStores, Transact } from "../../accounts/manage/managed-state.ts";
import type { RegisteredServer, ServerRegister } from "../../accounts/servers/server-register.ts";
import type { PerMinute } from "../../accounts/limits/limit-store.ts";
import { defaultLeaseTimes, SharedLimitStore } from "../shared-limit-store.ts";
import type { LeaseTimes, OpenLimits } from "../shared-limit-store.ts";
import { StateError } from "../state-error.ts";
import { KeyCache, noCache } from "./key-cache.ts";
import type { CachedKeys } from "./key-cache.ts";
import { defaultLeaseMs, goBack, migrate } from "./migrate.ts";
import type { Report } from "./migrate.ts";
import { PostgresGroupStore } from "./postgres-group-store.ts";
import { PostgresLimits } from "./postgres-limits.ts";
import { PostgresIdempotencyStore } from "./postgres-idempotency-store.ts";
import { PostgresKeyStore } from "./postgres-key-store.ts";
import { PostgresServerRegister, readServers } from "./postgres-server-register.ts";
import { changesOf, transactionsOf } from "./run-transaction.ts";
import type { RunTransaction } from "./run-transaction.ts";
import { postgresSql } from "../sql.ts";
import { SqlAdminKeyStore } from "../sql-admin-key-store.ts";
import { SqlAuditLog } from "../sql-audit-log.ts";
import { PostgresUsageLedger } from "./postgres-usage-ledger.ts";

/** The state of servers that share a PostgreSQL database. */
export interface PostgresState extends ChangeStores, AsyncDisposable {
  readonly transact: Transact;
  readonly ledger: UsageLedger;
  readonly idempotency: IdempotencyStore;
  readonly register: ServerRegister;
  /** 32 random bytes that were generated with the tables. They are the same on every server. */
  readonly cacheSecret: Uint8Array;
}

/** Times in milliseconds. The defaults are for production. */
interface PostgresOptions {
  /** A server that has not renewed its lease for this time counts as dead. Default: 20 s. */
  readonly leaseMs?: number;
  /** Default: 5 s. */
  readonly maxConnectMs?: number;
  /** Default: 5 s. */
  readonly maxStatementMs?: number;
  /** Receives sentences about a change of the tables. Default: nobody. */
  readonly report?: Report;
}

/** Maximum number of connections of one server. */
const maxConnections = 10;

/**
 * Connects to a database, and creates or migrates its tables. A lost connection makes the running calls reject; later calls
 * connect again.
 * @param url such as `postgres://user:password@host:5432/database`
 * @throws {StateError} if the database cannot be used; the message never contains the password
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<PostgresState> {
  const { leaseMs = defaultLeaseMs, maxConnectMs = defaultConnectMs, maxStatementMs = 5000 } = options;
  const config = configOf(url, maxConnectMs);
  const report = options.report ?? (() => undefined);
  const cacheSecret = await useClient(config, (client) => migrate(client, { report }));
  const pool = new Pool({
    ...config,
    max: maxConnections,
    statement_timeout: maxStatementMs,
    // A server that does not answer cannot end a statement either, so the client gives up a little later.
    query_timeout: maxStatementMs * 1.2,
    types: {
      getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)),
    },
  });
  // An idle connection was lost. The pool has removed it already, and without a listener the error would end the process.
  pool.on("error", () => undefined);
  // The same for a connection that is lost between two statements of a transaction. The next statement then rejects.
  pool.on("connect", (client) => client.on("error", () => undefined));
  await assertSessions(pool, config.place);
  const replicaId = randomUUID();
  const ledger = new PostgresUsageLedger(pool, leaseMs, replicaId);
  const register = new PostgresServerRegister(pool, leaseMs, replicaId);
  const { place: _place, ...connection } = config;
  const cache = new KeyCache(connection);
  return {
    ...storesOn(pool, cache, transactionsOf(pool)),
    transact: transactOf(pool, cache, 2 * maxStatementMs),
    ledger,
    idempotency: new PostgresIdempotencyStore(pool, leaseMs, replicaId),
    register,
    cacheSecret,
    [Symbol.asyncDispose]: async () => {
      await cache[Symbol.asyncDispose]();
      await register[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}

/** Returns the stores that operators change. @param run runs each change of groups */
function storesOn(client: Pick<Pool, "query">, cache: CachedKeys, run: RunTransaction): ChangeStores {
  const sql = postgresSql(client);
  return {
    keys: new PostgresKeyStore(client, cache),
    groups: new PostgresGroupStore(client, cache, run),
    adminKeys: new SqlAdminKeyStore(sql),
    audit: new SqlAuditLog(sql),
  };
}

const transactOf = (pool: Pool, cache: KeyCache, maxIdleMs: number): Transact => {
  const run = changesOf(pool, maxIdleMs);
  return async (work) => {
    try {
      // The stores of a transaction look keys up on its connection, not in memory.
      return await run((client) => work(storesOn(client, noCache, (change) => change(client))));
    } finally {
      cache.forgetAll();
    }
  };
};

/**
 * Checks that each connection is a session of the database. A pooler that shares sessions between transactions answers two
 * connections from one process of the database. Prepared statements and settings of a connection do not survive that.
 * @throws {StateError}
 */
async function assertSessions(pool: Pool, place: string): Promise<void> {
  const clients: PoolClient[] = [];
  try {
    const pids = new Set<number>();
    for (let turn = 0; turn < 2; turn += 1) {
      const client = await pool.connect();
      clients.push(client);
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      for (const { pid } of rows) pids.add(pid);
    }
    if (pids.size === clients.length) return;
    throw new StateError(
      `PostgreSQL at ${place} is behind a pooler that shares sessions between transactions: set its pool mode to session, or connect directly.`,
    );
  } catch (error) {
    void pool.end();
    throw error instanceof StateError ? error : new StateError(explain(error, place), { cause: error });
  } finally {
    for (const client of clients) client.release();
  }
}

/** Maximum milliseconds of a statement about limits, and until its connection is open. */
const maxLimitsMs = 1000;

/**
 * Opens the limits in a database whose tables exist. They have one connection of their own, so they never wait for the ledger.
 * @param overall limits over all keys
 * @throws {StateError} if the database cannot be used
 */
export async function openPostgresLimits(
  url: string,
  overall: PerMinute,
  times: LeaseTimes = defaultLeaseTimes,
): Promise<OpenLimits> {
  const { place: _place, ...config } = configOf(url, maxLimitsMs);
  const pool = new Pool({ ...config, max: 1, statement_timeout: maxLimitsMs, query_timeout: maxLimitsMs * 1.2 });
  pool.on("error", () => undefined);
  const limits = new SharedLimitStore(new PostgresLimits(pool, overall, times), overall, times);
  const dispose = async (): Promise<void> => {
    limits[Symbol.dispose]();
    await pool.end();
  };
  await limits.renew().catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  return { limits, [Symbol.asyncDispose]: dispose };
}

/** Brings the tables of a database back to an earlier version. @returns the version before @throws {StateError} */
export const downgradePostgres = async (url: string, to: number, report: Report): Promise<number> =>
  usePostgres(url, (client) => goBack(client, to, { report }));

/** Uses one connection to a database. @throws {StateError} if it cannot be used; the message never contains the password */
export const usePostgres = async <T>(url: string, use: (client: Client) => Promise<T>): Promise<T> =>
  useClient(configOf(url, defaultConnectMs), use);

/** Reads the live servers of a database, and changes nothing. @throws {StateError} */
export const readRegister = async (url: string): Promise<readonly RegisteredServer[]> =>
  useClient(configOf(url, defaultConnectMs), (client) => readServers(client, defaultLeaseMs));

const defaultConnectMs = 5000;

interface PlacedConfig extends ClientConfig {
  /** The host and port, to be shown in messages. */
  readonly place: string;
}

/** @throws {StateError} */
const configOf = (url: string, maxConnectMs: number): PlacedConfig => ({
  place: assertUrl(url),
  connectionString: url,
  connectionTimeoutMillis: maxConnectMs,
  keepAlive: true,
});

/** Uses a connection without a statement timeout, because another process may migrate for a long time. */
async function useClient<T>({ place, ...config }: PlacedConfig, use: (client: Client) => Promise<T>): Promise<T> {
  let client: Client | undefined;
  try {
    client = new Client(config);
    client.on("error", () => undefined);
    await client.connect();
    return await use(client);
  } catch (error) {
    throw error instanceof StateError ? error : new StateError(explain(error, place), { cause: error });
  } finally {
    await client?.end().catch(() => undefined);
  }
}

const malformed =
  "The URL of PostgreSQL is malformed: write postgres://user:password@host:5432/database, with special characters percent-encoded.";

/** @returns the host and port, to be shown in messages @throws {StateError} */
function assertUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["postgres:", "postgresql:"].includes(url.protocol) || url.hash !== "") throw new StateError(malformed);
  return url.searchParams.get("host") ?? (url.host || "localhost");
}

const refused = "does not accept the user or the password: correct the URL.";
/** Sentences for SQLSTATE codes and for the codes of Node's sockets. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection: start it, or correct the URL.",
  ENOTFOUND: "has an unknown host name: correct the URL.",
  EAI_AGAIN: "has an unknown host name: correct the URL.",
  "28P01": refused,
  "3D000": "does not have this database: create it, or correct the URL.",
  "42501": "does not let this user create tables: grant it CREATE on the database.",
};

/** Sentences for errors without a telling code. */
const wordings: readonly (readonly [wording: RegExp, sentence: string])[] = [
  [/^SASL/, refused],
  [
    /unsupported startup parameter: statement_timeout/,
    "is behind PgBouncer, which refuses statement_timeout: add it to ignore_startup_parameters there.",
  ],
  [/timeout/, "does not answer in time."],
];

function explain(error: unknown, place: string): string {
  if (error instanceof URIError) return malformed;
  const { code = "", message } = error as NodeJS.ErrnoException; // pg rejects with errors only; most have a code
  const told = wordings.find(([wording]) => wording.test(message))?.[1];
  const [firstLine = ""] = (message || code).split("\n");
  return `PostgreSQL at ${place} ${reasons[code] ?? told ?? `cannot be used: ${firstLine.replace(/\.$/, "")}.`}`;
}
