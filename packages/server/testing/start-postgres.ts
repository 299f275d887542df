import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort } from "@parley/common/free-port";
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

/** Makes a temporary folder of the server's user. */
function makeFolder(parent: string): string {
  const user = userOfServer();
  const folder = mkdtempSync(join(parent, "parley-postgres-"));
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Runs a program of PostgreSQL to its end, as the server's user. */
function runProgram(name: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, PGPASSWORD: "secret" };
  const options = { ...userOfServer(), cwd, env, encoding: "utf8" } as const;
  const { status, stderr } = spawnSync(join(postgresFolder ?? "", name), args, options);
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
}

/** Creates an empty cluster with the superuser `admin` and the password `secret`. @returns its folder */
function initialize(parent: string): string {
  const folder = makeFolder(parent);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, "secret\n");
  const args = ["-D", join(folder, "data"), "-U", "admin", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  // Small segments of the log fit on a small disk.
  runProgram("initdb", [...args, "-E", "UTF8", "--no-sync", "--wal-segsize=4"], folder);
  return folder;
}

/** A PostgreSQL server in a temporary folder, on a free port of the loopback interface. Disposal deletes both. */
export class TestPostgres implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#settings = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${this.#folder}`,
      ...settings,
    ];
  }

  /**
   * @param settings lines of `postgresql.conf`; by default nothing is synced to the disk, which is faster
   * @param parent the folder in which that of the server is made
   */
  static async start(settings: readonly string[] = ["fsync=off"], parent = tmpdir()): Promise<TestPostgres> {
    const postgres = new TestPostgres(await freePort(), initialize(parent), settings);
    await postgres.start();
    await postgres.query("CREATE ROLE parley LOGIN PASSWORD 'secret'");
    return postgres;
  }

  /** Starts a standby of this server, and replicates to it synchronously: a commit returns once the standby has it, too. */
  async startStandby(): Promise<TestPostgres> {
    const folder = makeFolder(tmpdir());
    const at = ["-h", "127.0.0.1", "-p", String(this.port), "-U", "admin"];
    runProgram("pg_basebackup", [...at, "-D", join(folder, "data"), "-R", "-c", "fast", "--no-sync"], folder);
    const standby = new TestPostgres(await freePort(), folder, []);
    await standby.start();
    await this.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.query("SELECT pg_reload_conf()");
    return standby;
  }

  /** Makes a standby the primary. It waits for nobody then. */
  async promote(): Promise<void> {
    await this.query("SELECT pg_promote()");
  }

  /** Sends a signal to all processes of the server: SIGSTOP or SIGCONT. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.#process ?? {};
    if (pid === undefined) return;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    for (const each of [pid, ...children.filter(Boolean)]) process.kill(each, name);
  }

  /** Replaces the rules of `pg_hba.conf`, and ends the connections of servers. @returns a function that restores them */
  async admit(rules: string): Promise<() => Promise<void>> {
    const file = join(this.#folder, "data", "pg_hba.conf");
    const before = readFileSync(file, "utf8");
    const write = async (text: string): Promise<void> => {
      writeFileSync(file, text);
      await this.query("SELECT pg_reload_conf()");
    };
    await write(`${rules}\n${before}`);
    await this.endConnections();
    return () => write(before);
  }

  /** Ends the connections of the user `parley`. */
  async endConnections(): Promise<void> {
    await this.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'parley'");
  }

  /** Returns whether the server runs. */
  get isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
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
    await until(isUp, Boolean, 20_000);
  }

  /** Ends the server and its connections at once, without a checkpoint. */
  async kill(): Promise<void> {
    if (!this.#process || !this.isRunning) return;
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
