import { startValkey } from "@parley/server/testing";
import type { Row } from "../row.ts";
import { toRow } from "./outage.ts";
import type { Outage } from "./outage.ts";

/** Number of servers in the rows that start a cluster of their own. */
const servers = 3;

const postgresOutages: readonly Outage[] = [
  {
    name: "postgresql-killed",
    event: "PostgreSQL is killed",
    share: 1,
    begin: async ({ postgres }) => {
      await postgres.kill();
      return () => postgres.start();
    },
  },
  {
    name: "postgresql-paused",
    event: "PostgreSQL is paused (SIGSTOP to all its processes)",
    begin: async ({ postgres }) => {
      postgres.signal("SIGSTOP");
      return async () => postgres.signal("SIGCONT");
    },
  },
  {
    name: "postgresql-refusing",
    event: "PostgreSQL ends the connections and refuses new ones (pg_hba.conf)",
    begin: ({ postgres }) => postgres.admit("host all parley 127.0.0.1/32 reject"),
  },
  {
    name: "postgresql-crowded",
    event: "PostgreSQL ends the connections and has none left (SQLSTATE 53300)",
    begin: async ({ postgres }) => {
      await postgres.query("ALTER ROLE parley CONNECTION LIMIT 0");
      await postgres.endConnections();
      return async () => void (await postgres.query("ALTER ROLE parley CONNECTION LIMIT -1"));
    },
  },
  {
    name: "postgresql-read-only",
    event: "PostgreSQL takes no writes, as a standby does (default_transaction_read_only)",
    begin: async ({ postgres }) => {
      await postgres.query("ALTER ROLE parley SET default_transaction_read_only = on");
      await postgres.endConnections();
      return async () => {
        await postgres.query("ALTER ROLE parley RESET default_transaction_read_only");
        await postgres.endConnections();
      };
    },
  },
  {
    name: "postgresql-full",
    event: "the disk of PostgreSQL is full (a file system of 200 MB in memory)",
    mayServe: true,
    cluster: { servers, diskMegabytes: 200 },
    begin: async ({ postgres, disk }) => {
      disk?.fill();
      return async () => {
        disk?.empty();
        if (!postgres.isRunning) await postgres.start();
      };
    },
  },
  {
    name: "postgresql-moved",
    event: "the primary of PostgreSQL is killed, and its standby takes over at another address",
    cluster: { servers, isMovable: true },
    begin: async (cluster) => {
      const standby = cluster.use(await cluster.postgres.startStandby());
      await cluster.postgres.kill();
      return async () => {
        await standby.promote();
        cluster.addresses?.postgres.moveTo(standby.port);
      };
    },
  },
];

const valkeyOutages: readonly Outage[] = [
  {
    name: "valkey-killed",
    event: "Valkey is killed",
    share: 1,
    begin: async ({ valkey }) => {
      await valkey.signal("SIGKILL");
      return () => valkey.restart();
    },
  },
  {
    name: "valkey-paused",
    event: "Valkey is paused (SIGSTOP)",
    begin: async ({ valkey }) => {
      await valkey.signal("SIGSTOP");
      return () => valkey.signal("SIGCONT");
    },
  },
  {
    name: "valkey-refusing",
    event: "Valkey ends the connections and refuses new ones (maxclients)",
    begin: async ({ valkey }) => {
      await valkey.command("CONFIG", "SET", "maxclients", "1");
      await valkey.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      return async () => void (await valkey.command("CONFIG", "SET", "maxclients", "10000"));
    },
  },
  {
    name: "valkey-full",
    event: "the memory of Valkey is full (maxmemory, noeviction)",
    begin: async ({ valkey }) => {
      await valkey.command("CONFIG", "SET", "maxmemory", "1");
      return async () => void (await valkey.command("CONFIG", "SET", "maxmemory", "0"));
    },
  },
  {
    name: "valkey-flushed",
    event: "Valkey loses all its data (FLUSHALL)",
    mayServe: true,
    losesLimits: true,
    begin: async ({ valkey }) => {
      await valkey.command("FLUSHALL");
      return async () => undefined;
    },
  },
  {
    name: "valkey-moved",
    event: "Valkey is killed, and an empty one takes over at another address",
    losesLimits: true,
    cluster: { servers, isMovable: true },
    begin: async (cluster) => {
      await cluster.valkey.signal("SIGKILL");
      const other = cluster.use(await startValkey());
      return async () => cluster.addresses?.valkey.moveTo(other.port);
    },
  },
];

export const outages: readonly Row[] = [...postgresOutages, ...valkeyOutages].map(toRow);
