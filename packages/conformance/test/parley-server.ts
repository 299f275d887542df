import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ConformanceProfile, KeyRole } from "../src/profile.ts";
import { scenariosFor } from "../src/scenarios.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const node = join(root, "node_modules/.bin/node");
const cli = join(root, "packages/server/src/cli/main.mjs");

/** Deadlines that are short enough for a test. */
const shortDeadlines = {
  headDeadlineSeconds: 1,
  bodyDeadlineSeconds: 1,
  requestDeadlineSeconds: 20,
  firstEventPatienceSeconds: 1,
  keepAliveSeconds: 1,
  slowReaderSeconds: 2,
};

const keyFlags = (): Readonly<Record<KeyRole, readonly string[]>> => ({
  // This key comes first, so that it expires while the others are made.
  // Its expiry has to be in the future when the command reads it.
  expired: ["--expires", `${new Date(Date.now() + 10_000).toISOString().slice(0, 19)}Z`],
  requests: ["--requests-per-minute", "12"],
  tokens: ["--tokens-per-minute", "100"],
  concurrency: ["--concurrency", "1"],
  spent: ["--budget-usd", "0"],
  raised: ["--budget-usd", "0"],
  disabled: [],
  restricted: ["--models", "vendor/model-1"],
});

export interface ParleyServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** The credentials by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The keys, limits and hooks of this deployment that the suite may use. */
  readonly profile: ConformanceProfile;
}

/** Parley in a separate process: the suite reaches it only over the wire. */
export async function startParley(engine: "scripted" | "embedded"): Promise<ParleyServer> {
  const folder = mkdtempSync(join(tmpdir(), "parley-conformance-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ scenarios: scenariosFor({ deadlines: shortDeadlines }) }));
  const env = { ...process.env, ...settingsOf(engine, folder, script) };
  const config = join(folder, "parley.yaml");
  writeFileSync(config, JSON.stringify({ models: modelsOf(engine) }));
  const secrets = new Map<string, string>([["key", adminKey]]);
  for (const [role, flags] of Object.entries(keyFlags())) secrets.set(role, await createKey(role, flags, env));
  const server = spawn(node, [cli, "start", "--config", config], { env, cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const baseUrl = await readBaseUrl([server.stdout, server.stderr]);
  await expire(baseUrl, secrets.get("expired") ?? "");
  return {
    baseUrl,
    secrets,
    profile: profileOf(engine, env),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => void server.once("exit", resolve));
      server.kill("SIGTERM");
      const timer = setTimeout(() => server.kill("SIGKILL"), 8000);
      await closed;
      clearTimeout(timer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The scripted engine has no cache, so a price of cached tokens could not be judged there. The embedded engine would take
 * minutes to fill the context that its files declare, and the clauses hold for a context of every size.
 */
const modelsOf = (engine: string): object => ({
  "model-1": { aliases: ["one"], ...(engine === "embedded" && { pricing: { input_cache_read: "0.0000001" } }) },
  "model-1-mini": engine === "embedded" ? { context_length: 2048 } : {},
});

const adminKey = "conformance-key-Qk83jvLw0ZtYn5Rb";

const settingsOf = (engine: string, folder: string, script: string): Readonly<Record<string, string>> => ({
  PARLEY_ENGINE: engine,
  PARLEY_SCRIPT: engine === "scripted" ? script : "",
  PARLEY_DATA_DIR: folder,
  PARLEY_API_KEY: adminKey,
  PARLEY_METRICS_PORT: "off",
  PORT: "0",
  PARLEY_HEAD_TIMEOUT_SECONDS: "1",
  PARLEY_BODY_TIMEOUT_SECONDS: "1",
  PARLEY_REQUEST_TIMEOUT_SECONDS: engine === "scripted" ? "20" : "600",
  PARLEY_FIRST_EVENT_SECONDS: "1",
  PARLEY_KEEP_ALIVE_SECONDS: "1",
  PARLEY_SLOW_READER_SECONDS: "2",
  PARLEY_QUEUE_LENGTH: "8",
  PARLEY_RESERVED_TOKENS: "10",
  PARLEY_DRAIN_SECONDS: "1",
  PARLEY_LOG_LEVEL: "error",
});

function profileOf(engine: "scripted" | "embedded", env: NodeJS.ProcessEnv): ConformanceProfile {
  const records = { command: [node, cli, "request", "{id}", "--json", "--data-dir", String(env["PARLEY_DATA_DIR"])] };
  const facts = { requestsPerMinute: 12, tokensPerMinute: 100, concurrency: 1, restrictedModel: "vendor/model-1-mini" };
  return engine === "scripted"
    ? {
        ...facts,
        capabilities: ["guided", "scripted"],
        deadlines: shortDeadlines,
        slots: 64,
        queueLength: 8,
        records,
        model: "vendor/model-1",
      }
    : {
        ...facts,
        capabilities: ["greedy", "guided"],
        deadlines: { ...shortDeadlines, requestDeadlineSeconds: 600 },
        records,
        model: "vendor/model-1-mini",
      };
}

async function createKey(role: string, flags: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run(node, [cli, "keys", "create", "--name", role, ...flags], { env, cwd: root });
  const [, id = ""] = /^id +(\S+)/m.exec(stdout) ?? [];
  const [, file = ""] = /^key +in (\S+)/m.exec(stdout) ?? [];
  const raise = ["--raise-usd", "0.000000001", "--raise-until", "1d"];
  if (role === "raised") await run(node, [cli, "keys", "update", id, ...raise], { env, cwd: root });
  if (role === "disabled") await run(node, [cli, "keys", "disable", id], { env, cwd: root });
  return readFileSync(file, "utf8").trim();
}

async function expire(baseUrl: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  while ((await fetch(`${baseUrl}/models`, { headers })).status !== 401) await wait(100);
}

/** The server says where it listens once its models are ready. */
function readBaseUrl(outputs: readonly NodeJS.ReadableStream[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    for (const output of outputs) {
      output.on("data", (chunk) => {
        text += String(chunk);
        const [, url] = /Base URL\s+(http\S+)/.exec(text) ?? [];
        if (url !== undefined) resolve(url);
      });
      output.on("end", () => reject(new Error(`the server did not start: ${text}`)));
    }
  });
}
