import { setTimeout as wait } from "node:timers/promises";
import { openWorkers } from "../caching-workers.ts";
import { chunk } from "../chat-places.ts";
import { closing, event, letters, refuse } from "../remote-places.ts";
import type { Answer } from "../remote-places.ts";
import { forward, modelName, startVllm } from "../vllm/start-vllm.ts";
import type { KnownFront, WorkerKind } from "./known-fronts.ts";
import { openWhole } from "./open-whole.ts";
import { openDynamo } from "./open-dynamo.ts";
import { readMetrics, sumOf } from "./read-metrics.ts";

/** One of the engines between which a front chooses. */
export interface FrontWorker extends AsyncDisposable {
  readonly url: string;
  /** Returns the number of completion requests that have ended or run. */
  asked(): Promise<number>;
  /** Ends it like `kill -9`. */
  kill(): Promise<void>;
}

export interface FrontWorkers extends AsyncDisposable {
  readonly workers: readonly FrontWorker[];
  /** The size of their cache's blocks, in tokens. */
  readonly blockTokens: number;
  /** The tokens of an answer in which a worker is killed, where 400 would end before the worker is found. */
  readonly answerTokens?: number;
  /** The version of vLLM, if one program has started both. */
  readonly vllm?: string;
  /** Variables that the front needs to find them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Returns the cached tokens of all requests, where Parley hides them. @param urls the addresses of the front */
  readonly countCached?: (urls: readonly string[]) => Promise<number>;
  /** From now on, each answer takes seconds. A real vLLM takes them anyway. */
  slowDown(): void;
  /** The stand-ins answer at once again. */
  recover(): void;
}

export interface StandIns extends FrontWorkers {
  /** From now on, they refuse every request as a vLLM whose queue is full. */
  fill(): void;
}

type Wanted = Pick<KnownFront, "protocol" | "onlyModel" | "dropsSalt">;

/**
 * Opens the workers of a front, of the given kind where it does not need its own.
 * @param more the arguments of its policy. A program that starts the workers itself needs them at once.
 */
export function openWorkersOf(front: KnownFront, kind: WorkerKind, more: readonly string[]): Promise<FrontWorkers> {
  if (front.whole) return openWhole(front.name, front.whole, front.program ? [] : more);
  if (front.hasOwnWorkers === true && front.program) return openDynamo(front.program, kind);
  return openFrontWorkers(kind, front);
}

/** Opens two workers. */
const openFrontWorkers = (kind: WorkerKind, wanted: Wanted): Promise<FrontWorkers> =>
  kind === "vllm" ? openReal(wanted) : openStandIns(wanted);

/** Stand-ins answer like vLLM and count cached blocks like it.  */
export async function openStandIns({ protocol, onlyModel = modelName, dropsSalt = false }: Wanted): Promise<StandIns> {
  const before = closing.length;
  const { workers } = await openWorkers(2, protocol);
  // They outlive the test.
  const own = closing.splice(before);
  for (const worker of workers) worker.listed = { ...worker.listed, id: onlyModel };
  const normal = workers.map(({ answer }) => answer);
  const answerBy = (answer: Answer): void => workers.forEach((worker) => (worker.answer = answer));
  return {
    workers: workers.map((worker) => ({
      url: worker.url,
      asked: async () => worker.asked,
      kill: () => worker.stop(),
      [Symbol.asyncDispose]: async () => undefined,
    })),
    blockTokens: 16,
    ...(dropsSalt && {
      countCached: async () => workers.reduce((sum, { counters }) => sum + counters.prefix_cache_hits_total, 0),
    }),
    slowDown: () => answerBy(slowly(protocol)),
    fill: () => answerBy(refuse(503, '{"error": {"message": "The server is overloaded", "code": 503}}')),
    recover: () => workers.forEach((worker, index) => (worker.answer = normal[index] ?? worker.answer)),
    [Symbol.asyncDispose]: async () => void (await Promise.all(own.map((close) => close()))),
  };
}

/** Eight tokens in four seconds. */
const slowly =
  (protocol: KnownFront["protocol"]): Answer =>
  (response) => {
    const send = async (): Promise<void> => {
      for (const [index, letter] of letters.entries()) {
        if (response.destroyed) return;
        const finish_reason = index === letters.length - 1 ? "length" : null;
        const usage = { prompt_tokens: 9, completion_tokens: index + 1 };
        response.write(
          protocol === "chat"
            ? chunk({ content: String.fromCharCode(letter) }, finish_reason)
            : event({ choices: [{ token_ids: [letter], finish_reason }], usage }),
        );
        await wait(500);
      }
      response.end(event("[DONE]"));
    };
    void send();
  };

/** Starts two vLLM on processors, each on a core. */
async function openReal({ protocol, onlyModel, dropsSalt = false }: Wanted): Promise<FrontWorkers> {
  const workers = await Promise.all(["0", "1"].map((cores) => openOne(cores, protocol, onlyModel)));
  const countOne = async ({ url }: FrontWorker): Promise<number> =>
    sumOf(await readMetrics(url), /^vllm:prefix_cache_hits_total\b/);
  return {
    workers,
    blockTokens: 128,
    ...(dropsSalt && {
      countCached: async () => (await Promise.all(workers.map(countOne))).reduce((sum, count) => sum + count, 0),
    }),
    slowDown: () => undefined,
    recover: () => undefined,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    },
  };
}

const chatArguments = ["--reasoning-parser", "qwen3", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"];

async function openOne(
  cores: string,
  protocol: KnownFront["protocol"],
  name: string = modelName,
): Promise<FrontWorker> {
  const started = startVllm({ cores, name, ...(protocol === "chat" && { extraArguments: chatArguments }) });
  const { vllm } = started;
  await vllm.engine.whenReady();
  const { url, server } = await forward(vllm.socketPath);
  return {
    url,
    asked: async () => sumOf(await readMetrics(url), counters),
    kill: async () => {
      server.close();
      process.kill(-(vllm.pid ?? 0), "SIGKILL"); // a vLLM that is ready has a process
      await vllm.engine.close(0);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      await started[Symbol.asyncDispose]();
    },
  };
}

const counters = /^vllm:(request_success_total|num_requests_running)/;
