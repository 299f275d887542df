import { createHash } from "node:crypto";
import { DatabaseError } from "pg";
import type { Client, Pool } from "pg";
import type {
  RegisteredServer,
  ServerEntry,
  ServerFacts,
  ServerRegister,
} from "../../accounts/servers/server-register.ts";

/** A live server. `facts` is null where they equal those of the reader. */
interface ServerRow {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly started_ms: number;
  readonly facts: ServerFacts | null;
}

/**
 * An expired lease counts as dead only once this server has renewed its own for half of the lease. After the database was
 * away, the others have then had the time to renew theirs. $1: half of the lease; $2: the id of this server.
 */
const isKept = `EXISTS (SELECT FROM parley.replicas own
  WHERE own.id = $2 AND own.renewed_at >= now() - $1::interval AND own.kept_since <= now() - $1::interval)`;
const isExpired = "renewed_at < now() - 2 * $1::interval";

const enter = `INSERT INTO parley.replicas AS known (id, name, version, started_at, digest, facts)
  VALUES ($2, $3, $4, now() - $5::interval, $6, $7)
  ON CONFLICT (id) DO UPDATE SET renewed_at = now(),
    kept_since = CASE WHEN known.renewed_at < now() - $1::interval THEN now() ELSE known.kept_since END,
    name = excluded.name, version = excluded.version, digest = excluded.digest, facts = excluded.facts,
    started_at = coalesce(known.started_at, excluded.started_at)`;

/** Entries of a dead server are closed first: they name its row. */
const removeDead = `DELETE FROM parley.replicas dead WHERE ${isExpired} AND ${isKept}
  AND NOT EXISTS (SELECT FROM parley.requests WHERE replica_id = dead.id AND ended_ms IS NULL)`;

const serverColumns = "id, name, version, (extract(epoch FROM started_at) * 1000)::float8 AS started_ms";
const readLive = `SELECT ${serverColumns}, CASE WHEN digest <> $3 THEN facts END AS facts
  FROM parley.replicas WHERE facts IS NOT NULL AND NOT (${isExpired} AND ${isKept})
  ORDER BY started_at, id`;

const toServer = ({ started_ms, ...row }: ServerRow, ownFacts: ServerFacts): RegisteredServer => ({
  ...row,
  startedMs: started_ms,
  facts: row.facts ?? ownFacts,
});

/** Reads the servers whose leases are valid. It enters none. Returns an empty list if no server has ever been entered. */
export async function readServers(client: Client, leaseMs: number): Promise<RegisteredServer[]> {
  const text = `SELECT ${serverColumns}, facts FROM parley.replicas
    WHERE facts IS NOT NULL AND renewed_at >= now() - $1::interval ORDER BY started_at, id`;
  try {
    const { rows } = await client.query<ServerRow>(text, [`${leaseMs} ms`]);
    return rows.map((row) => toServer(row, { offers: {}, engines: {} }));
  } catch (error) {
    // The tables, or their columns, are made by the first start of a server.
    if (error instanceof DatabaseError && ["42P01", "42703"].includes(error.code ?? "")) return [];
    throw error;
  }
}

/** The register in PostgreSQL. Its entries are columns of `replicas`, so a renewed entry renews the lease of its server. */
export class PostgresServerRegister implements ServerRegister, AsyncDisposable {
  readonly ownId: string;
  readonly #pool: Pool;
  /** Half of the lease, as an interval. */
  readonly #maxAge: string;
  readonly #renewEveryMs: number;
  readonly #startedMs = performance.now();
  readonly #listeners: (() => void)[] = [];
  #live: readonly RegisteredServer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(pool: Pool, leaseMs: number, ownId: string) {
    this.#pool = pool;
    this.ownId = ownId;
    this.#maxAge = `${leaseMs / 2} ms`;
    this.#renewEveryMs = leaseMs / 4;
  }

  get live(): readonly RegisteredServer[] {
    return this.#live;
  }

  onRead(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async enter(entry: ServerEntry): Promise<void> {
    const renew = async (): Promise<void> => {
      await this.#renew(entry).catch(() => undefined);
      if (!this.#hasEnded) this.#timer = setTimeout(() => void (this.#round = renew()), this.#renewEveryMs).unref();
    };
    await (this.#round = renew());
  }

  async #renew({ name, version, facts: read }: ServerEntry): Promise<void> {
    const facts = read();
    const json = JSON.stringify(facts);
    const digest = createHash("sha256").update(json).digest("hex");
    const age = `${performance.now() - this.#startedMs} ms`;
    await this.#pool.query(enter, [this.#maxAge, this.ownId, name, version, age, digest, json]);
    await this.#pool.query(removeDead, [this.#maxAge, this.ownId]);
    const { rows } = await this.#pool.query<ServerRow>(readLive, [this.#maxAge, this.ownId, digest]);
    this.#live = rows.map((row) => toServer(row, facts));
    for (const listener of this.#listeners) listener();
  }

  /** Leaves the register. If the database is away, the lease expires instead. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    await this.#round;
    if (this.#timer === undefined) return;
    await this.#pool.query("DELETE FROM parley.replicas WHERE id = $1", [this.ownId]).catch(() => undefined);
  }
}
