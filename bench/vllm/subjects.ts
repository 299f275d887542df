import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { until } from "../../packages/inference/test/until.ts";
import { installFolder } from "../../packages/inference/test/vllm/start-vllm.ts";
import { engineVariables } from "../../packages/inference/src/vllm/process/environment.ts";
import { findVllm } from "../../packages/inference/src/vllm/process/find-vllm.ts";
import { serveArguments } from "../../packages/inference/src/vllm/process/flags.ts";
import { CliProcess } from "../../packages/server/test/cli.ts";

export const key = "bench-key-0123456789";
export const servedName = "vendor/model-1-mini";

export interface Subject extends AsyncDisposable {
  readonly url: string;
}

const isPinned = availableParallelism() === 2 && spawnSync("taskset", ["--version"]).status === 0;

/**
 * What has the first of two processors, everything else having the other one: all of vLLM, or the process that computes
 * alone, as a GPU would, so that vLLM's own API, Parley and the load generator share a processor.
 */
export type Layout = "vLLM apart" | "vLLM's worker apart";
export const layouts: readonly (Layout | "not pinned")[] = isPinned
  ? ["vLLM apart", "vLLM's worker apart"]
  : ["not pinned"];

/** The command, with `taskset` in front of it where there are two processors to be shared out. */
export function pinnedTo(processor: 0 | 1, program: string): [string, ...string[]] {
  return isPinned ? ["taskset", "--cpu-list", String(processor), program] : [program];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

interface EngineOptions {
  readonly weights: string;
  readonly isMadeUp: boolean;
  readonly layout: (typeof layouts)[number];
  /** For its log. */
  readonly folder: string;
}

/** vLLM with the flags that Parley starts it with, on a port of its own: both ways lead to it. */
export async function startEngine({ weights, isMadeUp, layout, folder }: EngineOptions): Promise<Subject> {
  const found = await findVllm(undefined, installFolder);
  const port = await freePort();
  const plan = {
    weights,
    servedName,
    listen: { port },
    contextLength: 4096,
    slots: 32,
    queue: 128,
    isCpu: found.isCpu,
    kvMemoryMb: found.isCpu ? 512 : undefined,
    gpuMemoryShare: undefined,
    tensorParallel: undefined,
    dtype: "bfloat16",
    shutdownSeconds: 1,
    // The second way would find the prompts of the first one read already.
    extra: ["--no-enable-prefix-caching", ...(isMadeUp ? ["--load-format", "dummy"] : [])],
  };
  const variables = engineVariables({ isCpu: found.isCpu, temporaryFolder: folder, gpus: undefined, cores: "0" });
  // The worker goes to the first one by itself, as its variables say.
  const pinned = pinnedTo(layout === "vLLM apart" ? 0 : 1, found.program);
  const [program, ...args] = [...pinned, ...serveArguments(plan, found.version)];
  const child = spawn(program, args, { env: { ...process.env, ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(join(folder, "engine.log"));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const url = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ); // not yet
  await until(`the engine answers (${join(folder, "engine.log")})`, answers, 300_000);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return { url, [Symbol.asyncDispose]: stop };
}

interface ParleyOptions {
  readonly url: string;
  readonly tokenizer: string;
  readonly folder: string;
}

/** The program as an operator starts it, with that engine behind it. */
export async function startParley({ url, tokenizer, folder }: ParleyOptions): Promise<Subject> {
  const remote = { engine: "remote", slots: 32, remote: { urls: [url], tokenizer } };
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify({ models: { "model-1-mini": remote } }));
  const env = {
    PARLEY_ENGINE: "scripted",
    PARLEY_DATA_DIR: join(folder, "data"),
    PARLEY_API_KEY: key,
    PARLEY_METRICS_PORT: "off",
    PORT: "0",
  };
  const wrapper = pinnedTo(1, "").slice(0, -1);
  const program = new CliProcess(["start"], { cwd: folder, env, wrapper });
  const [, baseUrl = ""] = await program.says(/Base URL\s+(\S+)/);
  const isReady = async (): Promise<boolean> => (await fetch(new URL(`/ready?model=${servedName}`, baseUrl))).ok;
  await until("the model is ready", isReady, 60_000);
  return { url: baseUrl.replace(/\/v1$/, ""), [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}
