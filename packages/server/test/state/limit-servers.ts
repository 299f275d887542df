import { Valkey } from "iovalkey";
import { overallLimits, postgresFolder, startValkey, TestPostgres, valkeyProgram } from "@parley/server/testing";
import { openPostgres, openPostgresLimits } from "../../src/state/postgres/open-postgres.ts";
import type { LeaseTimes, OpenLimits } from "../../src/state/shared-limit-store.ts";
import { openValkey } from "../../src/state/valkey/open-valkey.ts";
import { startProxy } from "./silent-proxy.ts";

/** A real server that keeps limits, and its faults. */
export interface LimitServer extends AsyncDisposable {
  open(times: LeaseTimes): Promise<OpenLimits>;
  /** Removes all limits. */
  clear(): Promise<void>;
  /** Returns the time of the bucket of a key: Unix milliseconds. */
  bucketTimeMs(keyId: string): Promise<number>;
  placesOf(keyId: string): Promise<number>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Gives no answers until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  refuseWrites(isRefused: boolean): Promise<void>;
  /** A script that opens the limits as `limits` in another process. */
  scriptToOpen(times: LeaseTimes): string;
}

/** Returns a script that calls a function of a module of this package. */
const scriptOf = (module: string, name: string, ...args: readonly unknown[]): string =>
  `const { ${name} } = await import(${JSON.stringify(new URL(`../../src/state/${module}`, import.meta.url).href)});
   const { limits } = await ${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")});`;

async function startValkeyLimits(): Promise<LimitServer> {
  const valkey = await startValkey();
  const admin = new Valkey(valkey.port, "127.0.0.1");
  admin.on("error", () => undefined);
  return {
    open: (times) => openValkey(valkey.url, overallLimits, times),
    clear: async () => {
      await admin.flushall();
      await admin.script("FLUSH");
    },
    bucketTimeMs: async (keyId) => (await admin.getBuffer(`parley:bucket:key:${keyId}`))?.readDoubleLE(0) ?? 0,
    placesOf: (keyId) => admin.zcard(`parley:places:${keyId}`),
    kill: () => valkey.signal("SIGKILL"),
    restart: () => valkey.restart(),
    pause: () => valkey.signal("SIGSTOP"),
    resume: () => valkey.signal("SIGCONT"),
    refuseWrites: async (isRefused) => void (await admin.config("SET", "maxmemory", isRefused ? "1" : "0")),
    scriptToOpen: (times) => scriptOf("valkey/open-valkey.ts", "openValkey", valkey.url, overallLimits, times),
    [Symbol.asyncDispose]: async () => {
      admin.disconnect();
      await valkey[Symbol.asyncDispose]();
    },
  };
}

async function startPostgresLimits(): Promise<LimitServer> {
  const postgres = await TestPostgres.start();
  const database = await postgres.createDatabase();
  const direct = postgres.urlOf(database);
  await (await openPostgres(direct))[Symbol.asyncDispose]();
  const proxy = await startProxy(postgres.port);
  const url = direct.replace(`:${postgres.port}`, `:${proxy.port}`);
  const query = (text: string): Promise<readonly Record<string, unknown>[]> => postgres.query(text, database);
  return {
    open: (times) => openPostgresLimits(url, overallLimits, times),
    clear: async () => void (await query("TRUNCATE parley.limit_buckets, parley.limit_leases")),
    bucketTimeMs: async (keyId) =>
      Number((await query(`SELECT at_ms FROM parley.limit_buckets WHERE owner = 'key:${keyId}'`))[0]?.["at_ms"]),
    placesOf: async (keyId) => (await query(`SELECT FROM parley.limit_leases WHERE key_id = '${keyId}'`)).length,
    kill: async () => {
      // A crash may lose the last second, and these tests want to know what happens to the rest.
      await query("CHECKPOINT");
      await postgres.kill();
    },
    restart: () => postgres.start(),
    pause: async () => void (proxy.isSilent = true),
    resume: async () => void (proxy.isSilent = false),
    refuseWrites: async (isRefused) => {
      const change = isRefused ? ["REVOKE", "FROM"] : ["GRANT", "TO"];
      await query(`${change[0]} INSERT, UPDATE ON parley.limit_buckets, parley.limit_leases ${change[1]} parley`);
    },
    scriptToOpen: (times) => scriptOf("postgres/open-postgres.ts", "openPostgresLimits", url, overallLimits, times),
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    },
  };
}

/** A kind of server, with the function that starts one; undefined where it is not installed. */
type Kind = readonly [name: string, start: (() => Promise<LimitServer>) | undefined];

export const limitServers: readonly Kind[] = [
  [
    "Valkey (this needs `valkey-server` or `redis-server`)",
    valkeyProgram === undefined ? undefined : startValkeyLimits,
  ],
  ["PostgreSQL (this needs `initdb` of PostgreSQL)", postgresFolder === undefined ? undefined : startPostgresLimits],
];
