import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Connection, installFolder, isWhole, neverEnding } from "@parley/inference/testing/vllm";
import type { ModelSettings } from "../../src/config/model-settings.ts";
import type { ConfigChanges } from "../../src/config/read-config.ts";
import { miniId, modelId, startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/**
 * A whole service. A real vLLM serves its smaller model, and llama.cpp the other one, so answers show which engine gave them.
 */
export interface Service extends AsyncDisposable {
  readonly server: TestServer;
  /** Returns the path of the socket of the engine's own API. It changes with a restart. */
  readonly socketPath: () => string;
  /** Returns the engine's counters since its start. */
  readonly counters: () => Promise<Counters>;
}

export interface Counters {
  readonly prompt: number;
  readonly completion: number;
}

export interface ServiceOptions {
  readonly mini: ModelSettings;
  readonly settings?: ConfigChanges;
  /** Returns the path of the socket for an engine without a run state. It is called after every start. */
  readonly socketPath?: (server: TestServer) => string;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const { mini, settings = {}, socketPath = recordedSocket } = options;
  const models = { "model-1": { engine: "embedded" }, "model-1-mini": { slots: 32, cores: "0", ...mini } } as const;
  // Three engines start and work on two CPUs, in a short run beside other tests. None must count as frozen because of that.
  const patient = { engineStallMs: isWhole ? 10_000 : 120_000, engineSilenceMs: isWhole ? 15_000 : 60_000 };
  const server = await startTestServer({
    settings: { vllm: installFolder, kvMemoryMb: 256, ...patient, logLevel: "info", models, ...settings },
  });
  return {
    server,
    socketPath: () => socketPath(server),
    counters: () => readCounters(socketPath(server)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Reads the state of the current run, as a later server would find it. */
export function recordOf(dataDir: string): { readonly group: number; readonly folder: string } {
  const folder = join(dataDir, "engines");
  const file = readdirSync(folder).find((name) => /^vendor-model-1-mini-[0-9a-f]{6}\.json$/.test(name));
  if (file === undefined) throw new Error("no engine is on record");
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as ReturnType<typeof recordOf>; // written by us
}

const recordedSocket = ({ dataDir }: TestServer): string => join(recordOf(dataDir).folder, "api");

/** Reads the engine's metrics. Returns a function that sums a metric over its labels. Names have no `vllm:`. */
export async function readMetrics(socketPath: string): Promise<(name: string) => number> {
  const connection = new Connection({ baseUrl: "http://engine", socketPath, silenceMs: 10_000 });
  const text = await connection.read("/metrics", AbortSignal.timeout(10_000));
  await connection.close();
  return (name) =>
    [...text.matchAll(new RegExp(`^vllm:${name}\\{[^}]*\\} (\\S+)`, "gm"))].reduce(
      (total, [, n]) => total + Number(n),
      0,
    );
}

export async function readCounters(socketPath: string): Promise<Counters> {
  const sum = await readMetrics(socketPath);
  return { prompt: sum("prompt_tokens_total"), completion: sum("generation_tokens_total") };
}

export const engineOf = ({ server }: Service, id = miniId) => {
  const model = server.running.models.find((one) => one.id === id);
  if (!model) throw new Error(`there is no ${id}`);
  return model.engine;
};

/** A request for an answer that does not end before its token limit, and is the same for every caller. */
export const longAnswer = {
  model: miniId,
  temperature: 0,
  max_completion_tokens: 3000,
  logit_bias: neverEnding,
};
export const shortAnswer = { model: miniId, temperature: 0, max_completion_tokens: 12 };
export const otherAnswer = { ...shortAnswer, model: modelId };
