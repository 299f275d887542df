import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** Debian installs the programs outside the PATH, in a folder for each version. */
const debianFolder = "/usr/lib/postgresql";
const folders = [
  ...(existsSync(debianFolder) ? readdirSync(debianFolder).map((version) => join(debianFolder, version, "bin")) : []),
  ...(process.env["PATH"] ?? "").split(delimiter),
];

/** The folder of PostgreSQL's programs; undefined if it is not installed. */
export const postgresFolder = folders.find((folder) => existsSync(join(folder, "initdb")));

/** PostgreSQL refuses to run as root, so root runs it as this user, which Debian's package creates. */
function userOfServer(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string): number => Number(spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Creates an empty cluster with the superuser `admin` and the password `secret`. @returns its folder */
function initialize(): string {
  const user = userOfServer();
  const folder = mkdtempSync(join(tmpdir(), "parley-postgres-"));
  if (user) chownSync(folder, user.uid, user.gid);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, "secret\n");
  const args = ["-D", join(folder, "data"), "-U", "admin", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  const { status, stderr } = spawnSync(join(postgresFolder ?? "", "initdb"), [...args, "-E", "UTF8", "--no-sync"], {
    ...user,
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  return folder;
}

/** A PostgreSQL server in a temporary folder, on a free port of the loopback interface. Disposal deletes both. */
export class TestPostgres implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(port: number, settings: readonly string[]) {
    this.port = port;
    this.#folder = initialize();
    this.#settings = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${this.#folder}`,
      ...settings,
    ];
  }

  /** @param settings lines of `postgresql.conf`; by default nothing is synced to the disk, which is faster */
  static async start(settings: readonly string[] = ["fsync=off"]): Promise<TestPostgres> {
    const postgres = new TestPostgres(await freePort(), settings);
    await postgres.start();
    await postgres.query("CREATE ROLE parley LOGIN PASSWORD 'secret'");
    return postgres;
  }

  /** Starts the server, for the first time or after `kill`, and waits until it answers. */
  async start(): Promise<void> {
    const args = ["-D", join(this.#folder, "data"), ...this.#settings.flatMap((setting) => ["-c", setting])];
    this.#process = spawn(join(postgresFolder ?? "", "postgres"), args, {
      ...userOfServer(),
      cwd: this.#folder,
      stdio: "ignore",
    });
    const isUp = (): Promise<boolean> =>
      this.query("SELECT 1").then(
        () => true,
        () => false,
      );
    await until(isUp, Boolean, 10_000);
  }

  /** Ends the server and its connections at once, without a checkpoint. */
  async kill(): Promise<void> {
    if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "close");
    this.#process.kill("SIGQUIT");
    await ended;
  }

  urlOf(database: string, user = "parley"): string {
    return `postgres://${user}:secret@127.0.0.1:${this.port}/${database}`;
  }

  /** Creates a database that belongs to the user `parley`, who is not a superuser. @returns its name */
  async createDatabase(): Promise<string> {
    const name = `parley_${(this.#databases += 1)}`;
    await this.query(`CREATE DATABASE ${name} OWNER parley`);
    return name;
  }

  /** Runs a statement as the superuser. @returns the rows */
  async query(statement: string, database = "postgres"): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.urlOf(database, "admin") });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<Record<string, unknown>>(statement);
      return rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
