import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { miniFolder } from "../start-scripted-vllm.ts";
import { modelName } from "../vllm/start-vllm.ts";
import type { FrontWorker, FrontWorkers } from "./open-workers.ts";
import { readMetrics, sumOf } from "./read-metrics.ts";

const startLimitMs = 60_000;

/**
 * Starts two of the mockers that come with Dynamo. They write random tokens at the pace of a real engine, count cached blocks,
 * and ignore `cache_salt`. Because of that, Parley hides their cached tokens, so these are read in the frontend's metrics.
 * @param python the program of an environment with Dynamo
 */
export async function openMockers(python: string): Promise<FrontWorkers> {
  const folder = mkdtempSync(join(tmpdir(), "parley-dynamo-"));
  const environment = { DYN_FILE_KV: join(folder, "store"), DYN_TCP_RPC_HOST: "127.0.0.1", HF_HUB_OFFLINE: "1" };
  const workers = await Promise.all([1, 2].map(() => openMocker(python, environment)));
  return {
    workers,
    environment,
    blockTokens: 16,
    slowDown: () => undefined,
    recover: () => undefined,
    countCached: async ([url = ""]) => sumOf(await readMetrics(url), /^dynamo_frontend_cached_tokens_sum\{/),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openMocker(python: string, environment: Readonly<Record<string, string>>): Promise<FrontWorker> {
  const metricsPort = await lowPort();
  const url = `http://127.0.0.1:${metricsPort}`;
  const args =
    `-m dynamo.mocker --model-path ${miniFolder} --model-name ${modelName} --discovery-backend file --event-plane zmq` +
    ` --block-size 16 --speedup-ratio 1`;
  const child = spawn(python, args.split(" "), {
    stdio: "ignore",
    env: { ...process.env, ...environment, DYN_SYSTEM_PORT: String(metricsPort) },
  });
  const ended = once(child, "exit");
  const asked = async (): Promise<number> =>
    sumOf(await readMetrics(url), /^dynamo_component_requests_total\{.*dynamo_endpoint="generate"/);
  const isReady = (): Promise<boolean> =>
    readMetrics(url).then(
      (text) => text.includes('dynamo_endpoint="generate"'),
      () => false,
    ); // not yet
  await until("a mocker has metrics", () => child.exitCode !== null || isReady(), startLimitMs);
  if (child.exitCode !== null) throw new Error(`a mocker ended with ${child.exitCode}`);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url, asked, kill, [Symbol.asyncDispose]: kill };
}

/** Returns a free port below 32768: Dynamo 1.6.1 reads the port of its metrics as a signed number of 16 bits. */
async function lowPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    ); // in use
    server.close();
    if (isFree) return port;
  }
}
