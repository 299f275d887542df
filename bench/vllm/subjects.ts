import { spawn, spawnSync } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { engineVariables, findVllm, serveArguments } from "@parley/inference/vllm";
import { until } from "@parley/inference/testing";
import { freePort, installFolder, knownFronts, startFront } from "@parley/inference/testing/vllm";
import { CliProcess } from "@parley/server/testing";

export const key = "bench-key-0123456789";
export const servedName = "vendor/model-1-mini";

export interface Subject extends AsyncDisposable {
  readonly url: string;
}

const vllmRouter = knownFronts.find(({ name }) => name === "vllm-router") as (typeof knownFronts)[number]; // the table has it

const isPinned = availableParallelism() === 2 && spawnSync("taskset", ["--version"]).status === 0;

/**
 * Returns a command prefix that pins a program to a processor. With two processors, vLLM has the first to itself, as it would
 * have a GPU, and everything else shares the second. With any other number, nothing is pinned.
 */
export const pinTo = (processor: 0 | 1): readonly string[] =>
  isPinned ? ["taskset", "--cpu-list", String(processor)] : [];

interface EngineOptions {
  readonly weights: string;
  readonly isMadeUp: boolean;
  /** Folder for its log. */
  readonly folder: string;
  /** The number of engines that share the hardware, and which one this is, from 0. */
  readonly count: number;
  readonly index: number;
}

/** Starts vLLM with Parley's flags on a free port. Every measured path ends there. */
export async function startEngine({ weights, isMadeUp, folder, count, index }: EngineOptions): Promise<Subject> {
  const found = await findVllm(undefined, installFolder);
  const port = await freePort();
  const plan = {
    weights,
    servedName,
    listen: { port },
    contextLength: 4096,
    slots: 32,
    maxRequests: 128,
    isCpu: found.isCpu,
    kvMemoryMb: found.isCpu ? 512 : undefined,
    gpuMemoryShare: found.isCpu || count === 1 ? undefined : 0.9 / count,
    tensorParallel: undefined,
    dtype: "bfloat16",
    shutdownSeconds: 1,
    // Otherwise the second subject would find the prompts of the first in the prompt cache.
    extra: ["--no-enable-prefix-caching", ...(isMadeUp ? ["--load-format", "dummy"] : [])],
  };
  const variables = engineVariables({
    isCpu: found.isCpu,
    temporaryFolder: folder,
    gpus: undefined,
    cores: String(index),
  });
  const pin = pinTo(index === 0 ? 0 : 1);
  const [program = found.program, ...args] = [...pin, found.program, ...serveArguments(plan, found.version)];
  const child = spawn(program, args, { env: { ...process.env, ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  const url = `http://127.0.0.1:${port}`;
  return { url, [Symbol.asyncDispose]: await whenHealthy(child, url, join(folder, `engine-${index}.log`)) };
}

/**
 * Waits until an engine answers.
 * @returns a function that ends it
 * @throws {Error} if it ends, or does not answer for five minutes
 */
async function whenHealthy(
  child: ChildProcessByStdio<null, Readable, Readable>,
  url: string,
  logFile: string,
): Promise<() => Promise<void>> {
  const log = createWriteStream(logFile);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const ended = once(child, "exit");
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const answersOrEnded = async (): Promise<boolean> =>
    isOver() ||
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ); // not yet
  await until("vLLM answers", answersOrEnded, 300_000);
  if (isOver()) {
    const said = readFileSync(logFile, "utf8").trim().split("\n").slice(-20).join("\n");
    const exit = child.signalCode ?? child.exitCode;
    throw new Error(`vLLM ended (${exit}) before it answered. Its log is ${logFile}, and ends with:\n${said}`);
  }
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}

interface ParleyOptions {
  readonly urls: readonly string[];
  readonly front?: "vllm-router";
  readonly tokenizer: string;
  readonly folder: string;
}

/** Starts Parley as an operator does, in front of these engines or of their front. */
export async function startParley({ urls, front, tokenizer, folder }: ParleyOptions): Promise<Subject> {
  const remote = { engine: "remote", slots: 32, remote: { urls, tokenizer, ...(front && { front }) } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify({ models: { "model-1-mini": remote } }));
  const env = {
    PARLEY_ENGINE: "scripted",
    PARLEY_DATA_DIR: join(folder, "data"),
    PARLEY_API_KEY: key,
    PARLEY_METRICS_PORT: "off",
    PORT: "0",
  };
  const program = new CliProcess(["start"], { cwd: folder, env, wrapper: pinTo(1) });
  const [, baseUrl = ""] = await program.says(/Base URL\s+(\S+)/);
  const isReady = async (): Promise<boolean> => (await fetch(new URL(`/ready?model=${servedName}`, baseUrl))).ok;
  await until("the model is ready", isReady, 60_000);
  return { url: baseUrl.replace(/\/v1$/, ""), [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

/** Starts the smallest proxy in Node between caller and engine. */
export async function startCopier(url: string): Promise<Subject> {
  const [program, ...args] = [...pinTo(1), process.execPath, join(import.meta.dirname, "copier.ts"), url];
  const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [own] = (await once(child, "message")) as [string]; // its address, once it listens
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  return { url: own, [Symbol.asyncDispose]: stop };
}

/**
 * Starts vllm-router, which is written in Rust, over these engines. Each gets every second request, and so on.
 * @throws {MissingFrontError} if `PARLEY_TEST_ROUTER` does not name it and PyPI does not have it
 */
export async function startVllmRouter(urls: readonly string[]): Promise<Subject> {
  const front = await startFront(vllmRouter, urls, vllmRouter.policies["round_robin"], { wrapper: pinTo(1) });
  return { url: front.urls[0] ?? "", [Symbol.asyncDispose]: () => front[Symbol.asyncDispose]() };
}
