import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createKey } from "@parley/server";
import { CliProcess, freePort, openPostgres, startValkey, TestPostgres } from "@parley/server/testing";
import type { CliResult, KeyRules, NewKey, PostgresState, TestValkey } from "@parley/server/testing";
import { MovableAddress } from "./address.ts";
import { scenarios } from "./requests.ts";
import { SmallDisk } from "./small-disk.ts";

/** A server as a process of its own. It keeps its port and its data folder when it starts again. */
export interface Server {
  /** The base URL, with `/v1`. */
  readonly url: string;
  readonly port: number;
  process: CliProcess;
  readonly start: () => Promise<CliProcess>;
}

export interface ClusterOptions {
  readonly servers: number;
  /** The servers know the stores by addresses that can move. */
  readonly isMovable?: boolean;
  /** Size of a disk for PostgreSQL alone. Absent: it is in the folder for temporary files. */
  readonly diskMegabytes?: number;
  /** Variables of all servers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** An entry of the ledger. */
export type Entry = ReturnType<PostgresState["ledger"]["entries"]> extends AsyncIterable<infer One> ? One : never;

/** Real servers that share one PostgreSQL and one Valkey or Redis. */
export class Cluster implements AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly valkey: TestValkey;
  /** The stores as a server sees them. */
  readonly state: PostgresState;
  readonly servers: Server[] = [];
  /** The disk of PostgreSQL, if it has its own. */
  readonly disk: SmallDisk | undefined;
  /** The addresses of the stores, if they can move. */
  readonly addresses: { readonly postgres: MovableAddress; readonly valkey: MovableAddress } | undefined;
  readonly #folder: string;
  readonly #started: AsyncDisposableStack;
  readonly #database: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(parts: Pick<Cluster, "postgres" | "valkey" | "state" | "disk" | "addresses">, own: Own) {
    this.postgres = parts.postgres;
    this.valkey = parts.valkey;
    this.state = parts.state;
    this.disk = parts.disk;
    this.addresses = parts.addresses;
    this.#started = own.started;
    this.#folder = own.folder;
    this.#database = own.database;
    this.#env = own.env;
  }

  /** Starts the stores and some servers. PostgreSQL syncs every commit to the disk. */
  static async start({ servers, isMovable = false, diskMegabytes, env = {} }: ClusterOptions): Promise<Cluster> {
    const started = new AsyncDisposableStack();
    running.add(started);
    const folder = started.adopt(mkdtempSync(join(tmpdir(), "parley-replicas-")), (path) =>
      rmSync(path, { recursive: true, force: true }),
    );
    writeFileSync(join(folder, "script.json"), JSON.stringify({ scenarios }));
    const disk = diskMegabytes === undefined ? undefined : started.use(new SmallDisk(diskMegabytes));
    const postgres = started.use(await TestPostgres.start([], disk?.folder));
    const valkey = started.use(await startValkey());
    const addresses = isMovable
      ? {
          postgres: started.use(await MovableAddress.open(postgres.port)),
          valkey: started.use(await MovableAddress.open(valkey.port)),
        }
      : undefined;
    const at = (url: string, address: MovableAddress | undefined): string =>
      address ? Object.assign(new URL(url), { port: String(address.port) }).href : url;
    const database = await postgres.createDatabase();
    const databaseUrl = at(postgres.urlOf(database), addresses?.postgres);
    const state = started.use(await openPostgres(databaseUrl));
    const stores = { PARLEY_DATABASE_URL: databaseUrl, PARLEY_VALKEY_URL: at(valkey.url, addresses?.valkey) };
    const cluster = new Cluster(
      { postgres, valkey, state, disk, addresses },
      { started, folder, database, env: { ...stores, ...env } },
    );
    for (let turn = 0; turn < servers; turn += 1) await cluster.add();
    return cluster;
  }

  /** Starts one more server of this cluster. */
  async add(): Promise<Server> {
    const server = await this.startServer(this.#env);
    this.servers.push(server);
    return server;
  }

  /** Starts a server. Without stores, it keeps its state in a file and in memory. */
  async startServer(env: Readonly<Record<string, string>> = {}): Promise<Server> {
    const port = await freePort();
    const dataDir = join(this.#folder, `data-${port}`);
    const start = async (): Promise<CliProcess> => {
      const process = new CliProcess(["start"], {
        cwd: this.#folder,
        env: {
          PARLEY_ENGINE: "scripted",
          PARLEY_SCRIPT: join(this.#folder, "script.json"),
          PARLEY_DATA_DIR: dataDir,
          PARLEY_QUEUE_LENGTH: "10000",
          PARLEY_LOG_LEVEL: "warn",
          PORT: String(port),
          PARLEY_METRICS_PORT: "off",
          ...env,
        },
      });
      this.#started.use(process);
      await process.says(/Base URL\s+(\S+)/, 120_000);
      return process;
    };
    return { url: `http://127.0.0.1:${port}/v1`, port, process: await start(), start };
  }

  /** Runs a command of `parley` on the shared state. */
  async command(...args: readonly string[]): Promise<CliResult> {
    return new CliProcess(args, { cwd: this.#folder, env: this.#env }).result();
  }

  /** Ends something together with this cluster. */
  use<T extends AsyncDisposable | Disposable>(part: T): T {
    return this.#started.use(part);
  }

  makeKey(rules: Partial<KeyRules> = {}): Promise<NewKey> {
    return createKey(this.state.keys, { name: "bench", ...rules }, Date.now());
  }

  /** Waits until no entry of a key is open, at most a minute. @returns the entries */
  async entriesOf(keyId: string): Promise<readonly Entry[]> {
    const { ledger } = this.state;
    const untilMs = performance.now() + 60_000;
    const isOpen = async (): Promise<boolean> =>
      (await Array.fromAsync(ledger.entries({ keyId, outcome: "open" }))).length > 0;
    while (performance.now() < untilMs && (await isOpen().catch(() => true))) await wait(200);
    return Array.fromAsync(ledger.entries({ keyId }));
  }

  /** Returns the money of a key: spent, the sum of its entries, and held. */
  async moneyOf(keyId: string): Promise<{ readonly spent: string; readonly cost: string; readonly held: string }> {
    const [money] = await this.query(
      `SELECT trim_scale(cost_usd)::text AS spent, trim_scale(held_usd)::text AS held, (
         SELECT trim_scale(coalesce(sum(cost_usd), 0))::text FROM parley.requests r WHERE r.key_id = s.key_id
       ) AS cost FROM parley.spending s WHERE key_id = '${keyId}'`,
    );
    return { spent: String(money?.["spent"]), cost: String(money?.["cost"]), held: String(money?.["held"]) };
  }

  /** Returns the versions of the stores, in one line. */
  async versions(): Promise<string> {
    const [postgres] = await this.query("SHOW server_version");
    const about = String(await this.valkey.command("INFO", "server"));
    const valkey = /valkey_version:(\S+)/.exec(about)?.[1];
    const redis = /redis_version:(\S+)/.exec(about)?.[1];
    return `PostgreSQL ${String(postgres?.["server_version"])}, ${valkey === undefined ? `Redis ${redis}` : `Valkey ${valkey}`}`;
  }

  /** Runs a statement in the database of this cluster, as the superuser. */
  query(statement: string): Promise<readonly Record<string, unknown>[]> {
    return this.postgres.query(statement, this.#database);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    running.delete(this.#started);
    await this.#started.disposeAsync();
  }
}

interface Own {
  readonly started: AsyncDisposableStack;
  readonly folder: string;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
}

const running = new Set<AsyncDisposableStack>();

/** Ends all processes and deletes all files of all clusters. */
export async function endAllClusters(): Promise<void> {
  for (const started of running) await started.disposeAsync();
}
