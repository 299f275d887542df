import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKey } from "@parley/server";
import { CliProcess, modelId, openPostgres, startValkey, TestPostgres } from "@parley/server/testing";
import type { KeyRules, NewKey, PostgresState, TestValkey } from "@parley/server/testing";

/** The answers of the scripted engine: 8 tokens at once, and 200 tokens in 4 s. */
const scenarios = {
  short: [{ repeat: 8, steps: [{ text: "word " }] }, { finish: "stop" }],
  long: [{ repeat: 200, steps: [{ text: "word " }, { wait_ms: 20 }] }, { finish: "stop" }],
};

export type Scenario = keyof typeof scenarios;

/** A request that has ended, as its client saw it. */
export interface Seen {
  readonly status: number;
  /** False if the stream ended without its last event. */
  readonly isWhole: boolean;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Milliseconds from the request to the first event. */
  readonly firstMs: number;
  /** The times of the first event and of the end, in the milliseconds of `performance.now()`. */
  readonly span: readonly [from: number, to: number];
}

/** A running server, as a process of its own. */
export interface Server {
  readonly url: string;
  readonly process: CliProcess;
}

/** Real servers that share one PostgreSQL and one Valkey or Redis. */
export class Cluster implements AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly valkey: TestValkey;
  /** The stores as a server sees them. */
  readonly state: PostgresState;
  readonly servers: Server[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-replicas-"));
  readonly #stores: Readonly<Record<string, string>>;
  #started = 0;

  private constructor(postgres: TestPostgres, valkey: TestValkey, databaseUrl: string, state: PostgresState) {
    this.postgres = postgres;
    this.valkey = valkey;
    this.state = state;
    this.#stores = { PARLEY_DATABASE_URL: databaseUrl, PARLEY_VALKEY_URL: valkey.url };
    writeFileSync(join(this.#folder, "script.json"), JSON.stringify({ scenarios }));
  }

  /** Starts the stores and some servers. PostgreSQL syncs every commit to the disk. */
  static async start(servers: number): Promise<Cluster> {
    const postgres = await TestPostgres.start([]);
    const valkey = await startValkey();
    const databaseUrl = postgres.urlOf(await postgres.createDatabase());
    const cluster = new Cluster(postgres, valkey, databaseUrl, await openPostgres(databaseUrl));
    for (let turn = 0; turn < servers; turn += 1) await cluster.add();
    return cluster;
  }

  /** Starts one more server of this cluster. */
  async add(): Promise<Server> {
    const server = await this.startServer(this.#stores);
    this.servers.push(server);
    return server;
  }

  /** Starts a server. Without stores, it keeps its state in a file and in memory. */
  async startServer(stores: Readonly<Record<string, string>> = {}): Promise<Server> {
    const process = new CliProcess(["start"], {
      cwd: this.#folder,
      env: {
        PARLEY_ENGINE: "scripted",
        PARLEY_SCRIPT: join(this.#folder, "script.json"),
        PARLEY_DATA_DIR: join(this.#folder, `data-${(this.#started += 1)}`),
        PARLEY_QUEUE_LENGTH: "10000",
        PARLEY_LOG_LEVEL: "warn",
        PORT: "0",
        PARLEY_METRICS_PORT: "off",
        ...stores,
      },
    });
    const [, url = ""] = await process.says(/Base URL\s+(\S+)/, 120_000);
    return { url, process };
  }

  makeKey(rules: Partial<KeyRules> = {}): Promise<NewKey> {
    return createKey(this.state.keys, { name: "bench", ...rules }, Date.now());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.servers) await process[Symbol.asyncDispose]();
    await this.state[Symbol.asyncDispose]();
    await this.valkey[Symbol.asyncDispose]();
    await this.postgres[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Sends a streamed request and reads its answer. A connection that breaks gives the status 0. */
export async function send({ url }: Server, token: string, scenario: Scenario): Promise<Seen> {
  const beganMs = performance.now();
  let firstMs = 0;
  let text = "";
  let status = 0;
  try {
    const body = {
      model: modelId,
      messages: [{ role: "user", content: `script:${scenario}` }],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 400,
    };
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
    status = response.status;
    for await (const bytes of response.body ?? []) {
      firstMs ||= performance.now();
      text += Buffer.from(bytes).toString("latin1");
    }
  } catch {
    status = 0;
  }
  const numberOf = (name: string): number => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? 0);
  return {
    status,
    isWhole: text.includes("data: [DONE]"),
    completionTokens: numberOf("completion_tokens"),
    totalTokens: numberOf("total_tokens"),
    firstMs: firstMs - beganMs,
    span: [firstMs, performance.now()],
  };
}

/** Sends requests to servers in turn, at most `atOnce` at the same time. */
export async function race(
  servers: readonly Server[],
  { count, atOnce, token, scenario }: { count: number; atOnce: number; token: string; scenario: Scenario },
): Promise<Seen[]> {
  const seen: Seen[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const server = servers[next++ % servers.length];
      if (server) seen.push(await send(server, token, scenario));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return seen;
}
