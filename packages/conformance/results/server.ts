import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { openSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Product } from "./product.ts";

export type Variables = Readonly<Record<string, string>>;

/** The caller's key of every product. It protects nothing. */
export const key = "results-key-Qk83jvLw0ZtYn5Rb";

/** A start may load weights and compile. */
const maxStartMs = 480_000;

/** Puts variables into a text, as bash would. */
export const fill = (text: string, variables: Readonly<Record<string, string | undefined>>): string =>
  text.replaceAll(/\$([A-Z_]+)/g, (all, name: string) => variables[name] ?? all);

export interface Running extends AsyncDisposable {
  readonly origin: string;
  readonly baseUrl: string;
  readonly variables: Variables;
  /** Waits until a chat is answered, or for as long as a start may take. */
  readonly answers: () => Promise<void>;
}

/** Starts a product on a free port. */
export async function startProduct(product: Product, variables: Variables): Promise<Running> {
  const port = await freePort();
  const env = { ...variables, PORT: String(port) };
  return running(spawnShell(product.start, env), {
    port,
    env,
    basePath: product.basePath ?? "/v1",
    headers: product.headers ?? [],
  });
}

/** Starts the service behind a gateway, and waits until it answers. */
export async function startParley(variables: Variables, port: number): Promise<Running> {
  const env = {
    ...variables,
    PORT: String(port),
    PARLEY_ENGINE: "scripted",
    PARLEY_API_KEY: key,
    PARLEY_METRICS_PORT: "off",
    PARLEY_DATA_DIR: join(variables["FOLDER"] ?? "", "parley"),
    MODEL: "vendor/model-1",
  };
  const started = running(spawnShell(`cd "$ROOT" && exec node packages/server/src/cli/main.mjs start`, env), {
    port,
    env,
    basePath: "/v1",
    headers: [],
  });
  await started.answers();
  return started;
}

const spawnShell = (line: string, env: Variables): ChildProcess => {
  const log = openSync(join(env["FOLDER"] ?? "", "server.log"), "a");
  return spawn("bash", ["-c", line], { env, detached: true, stdio: ["ignore", log, log] });
};

function running(
  child: ChildProcess,
  {
    port,
    env,
    basePath,
    headers,
  }: { readonly port: number; readonly env: Variables; readonly basePath: string; readonly headers: readonly string[] },
): Running {
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = origin + basePath;
  return {
    origin,
    baseUrl,
    variables: env,
    async answers() {
      const beganMs = performance.now();
      while (
        child.exitCode === null &&
        performance.now() - beganMs < maxStartMs &&
        !(await isAnswered(baseUrl, env, headers))
      )
        await wait(1000);
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => child.once("exit", done));
      signalGroup(child, "SIGTERM");
      if (child.exitCode === null) await Promise.race([closed, wait(10_000)]);
      signalGroup(child, "SIGKILL");
    },
  };
}

/** A product may have several processes: all of its group are ended. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

async function isAnswered(baseUrl: string, variables: Variables, headers: readonly string[]): Promise<boolean> {
  const body = JSON.stringify({
    model: variables["MODEL"],
    messages: [{ role: "user", content: "Hello" }],
    max_tokens: 4,
  });
  const own = headers.map((header) => fill(header, variables).split(/: (.*)/, 2) as [string, string]); // `Name: value`
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...Object.fromEntries(own) },
    body,
    signal: AbortSignal.timeout(60_000),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.ok === true;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  await new Promise((done) => server.close(done));
  return port;
}
