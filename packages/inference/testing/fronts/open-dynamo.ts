import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { miniFolder } from "../start-scripted-vllm.ts";
import { modelName } from "../vllm/start-vllm.ts";
import type { FrontProgram, WorkerKind } from "./known-fronts.ts";
import type { FrontWorker, FrontWorkers } from "./open-workers.ts";
import { vllmVersionOf } from "./open-whole.ts";
import { readMetrics, sumOf } from "./read-metrics.ts";
import { endGroup, programOf } from "./start-front.ts";
import { engineSettings, flagsOf, variables } from "./whole-programs.ts";

const startLimitMs = 300_000;

/** The sizes of the blocks of their caches, in tokens. On processors, vLLM takes multiples of 32. */
const blockTokens = { "stand-in": 16, vllm: 32 } as const;

/**
 * Starts two workers of Dynamo: real vLLM on processors, or the mockers that come with it. Mockers write random tokens at the pace
 * of a real engine, count cached blocks, and ignore `cache_salt`. Because of that, Parley hides their cached tokens. So those of
 * both kinds are read in the frontend's metrics.
 * @param program the Python of an environment with Dynamo, and with its version of vLLM for the kind `vllm`
 */
export async function openDynamo(program: FrontProgram, kind: WorkerKind): Promise<FrontWorkers> {
  const folder = mkdtempSync(join(tmpdir(), "parley-dynamo-"));
  const environment = { DYN_FILE_KV: join(folder, "store"), DYN_TCP_RPC_HOST: "127.0.0.1", HF_HUB_OFFLINE: "1" };
  const openOne = (index: number): Promise<FrontWorker> => {
    if (kind === "stand-in") return openWorker(program, mockerArgs, environment);
    const cores = { ...variables, VLLM_CPU_OMP_THREADS_BIND: String(index) };
    return openWorker(program, vllmArgs(join(folder, `events-${index}`)), { ...environment, ...cores });
  };
  const workers = await Promise.all([0, 1].map(openOne));
  return {
    workers,
    environment,
    blockTokens: blockTokens[kind],
    ...(kind === "vllm" && { vllm: vllmVersionOf(program), answerTokens: 4000 }),
    slowDown: () => undefined,
    recover: () => undefined,
    countCached: async ([url = ""]) => sumOf(await readMetrics(url), /^dynamo_frontend_cached_tokens_sum\{/),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const discovery = "--discovery-backend file --event-plane zmq".split(" ");

const mockerArgs =
  `-m dynamo.mocker --model-path ${miniFolder} --model-name ${modelName} --block-size ${blockTokens["stand-in"]} --speedup-ratio 1`
    .split(" ")
    .concat(discovery);

/** @param socket the path at which vLLM publishes the events of its cache */
function vllmArgs(socket: string): string[] {
  // Dynamo has no such setting: its frontend counts cached tokens.
  const { enable_prompt_tokens_details: _, ...settings } = engineSettings;
  const events = { enable_kv_cache_events: true, publisher: "zmq", endpoint: `ipc://${socket}` };
  const own = { model: miniFolder, served_model_name: modelName, block_size: blockTokens.vllm };
  const flags = flagsOf({ ...own, kv_events_config: events, ...settings });
  return ["-m", "dynamo.vllm", ...flags, ...discovery];
}

async function openWorker(
  program: FrontProgram,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FrontWorker> {
  const metricsPort = await lowPort();
  const url = `http://127.0.0.1:${metricsPort}`;
  const child = spawn(programOf(program), args, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, ...environment, DYN_SYSTEM_PORT: String(metricsPort) },
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (data: Buffer) => void (said = `${said}${data.toString()}`.slice(-2000)));
  const ended = once(child, "exit");
  const asked = async (): Promise<number> =>
    sumOf(await readMetrics(url), /^dynamo_component_requests_total\{.*dynamo_endpoint="generate"/);
  const isReady = (): Promise<boolean> =>
    readMetrics(url).then(
      (text) => text.includes('dynamo_endpoint="generate"'),
      () => false,
    ); // not yet
  await until("a worker of Dynamo has metrics", () => child.exitCode !== null || isReady(), startLimitMs);
  if (child.exitCode !== null) throw new Error(`a worker of Dynamo ended with ${child.exitCode}:\n${said}`);
  const kill = async (): Promise<void> => {
    endGroup(child.pid, "SIGKILL");
    await ended;
  };
  return { url, asked, kill, [Symbol.asyncDispose]: kill };
}

/** Returns a free port below 32768. Dynamo 1.6.1 reads the port of its metrics as a signed 16-bit number, so a higher one fails. */
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
