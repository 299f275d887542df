import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Connection, installFolder, neverEnding } from "@parley/inference/testing/vllm";
import type { ModelSettings } from "../../src/config/model-settings.ts";
import type { ConfigChanges } from "../../src/config/read-config.ts";
import { miniId, modelId, startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** A whole service whose smaller model is served by a real vLLM; the other one, on llama.cpp, tells them apart. */
export interface Service extends AsyncDisposable {
  readonly server: TestServer;
  /** Where the engine's own API listens just now. */
  readonly socketPath: () => string;
  /** What the engine has counted since its start. */
  readonly counters: () => Promise<Counters>;
}

export interface Counters {
  readonly prompt: number;
  readonly completion: number;
}

export interface ServiceOptions {
  readonly mini: ModelSettings;
  readonly settings?: ConfigChanges;
  /** For an engine that leaves no record here; it is asked anew after every start. */
  readonly socketPath?: (server: TestServer) => string;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const { mini, settings = {}, socketPath = recordedSocket } = options;
  const models = { "model-1": { engine: "embedded" }, "model-1-mini": { slots: 32, cores: "0", ...mini } } as const;
  // Three engines start and work on two processors: the other model must not be taken for frozen meanwhile.
  const patient = { engineStallMs: 10_000, engineSilenceMs: 15_000 };
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

/** Of the run that is under way, as a later server would find it. */
export function recordOf(dataDir: string): { readonly group: number; readonly folder: string } {
  const folder = join(dataDir, "engines");
  const file = readdirSync(folder).find((name) => /^vendor-model-1-mini-[0-9a-f]{6}\.json$/.test(name));
  if (file === undefined) throw new Error("no engine is on record");
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as ReturnType<typeof recordOf>; // written by us
}

const recordedSocket = ({ dataDir }: TestServer): string => join(recordOf(dataDir).folder, "api");

/** @returns what the engine measures by this name, without `vllm:`, over all its labels */
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

/** An answer that cannot end by itself, the same for everybody. */
export const longAnswer = {
  model: miniId,
  temperature: 0,
  max_completion_tokens: 3000,
  logit_bias: neverEnding,
};
export const shortAnswer = { model: miniId, temperature: 0, max_completion_tokens: 12 };
export const otherAnswer = { ...shortAnswer, model: modelId };
