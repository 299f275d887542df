import { readlinkSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installFolder, modelName } from "../vllm/start-vllm.ts";
import { miniFolder } from "../start-scripted-vllm.ts";
import type { Places, WholeProgram } from "./known-fronts.ts";

/** Dynamo of PyTorch is off: it needs a compiler, and without one the first request for log-probabilities ends vLLM. */
export const variables = { HF_HUB_OFFLINE: "1", VLLM_NO_USAGE_STATS: "1", TORCHDYNAMO_DISABLE: "1" };

/** The settings of each vLLM. It refuses requests beyond 32 that run or wait: two engines of one vLLM share this number. */
export const engineSettings = {
  enforce_eager: true,
  enable_chunked_prefill: false,
  enable_prompt_tokens_details: true,
  generation_config: "vllm",
  kv_cache_memory_bytes: 256 * 2 ** 20,
  max_logprobs: 20,
  max_model_len: 32_768,
  max_num_batched_tokens: 32_768,
  max_num_queued_reqs: 32,
  max_num_seqs: 9,
  structured_outputs_config: { backend: "xgrammar" },
};

/** Returns settings as arguments of `vllm serve`. */
export const flagsOf = (settings: object): string[] =>
  Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    const flag = name.replaceAll("_", "-");
    if (typeof value === "boolean") return [value ? `--${flag}` : `--no-${flag}`];
    return [`--${flag}`, typeof value === "string" ? value : JSON.stringify(value)];
  });

function rayArgs({ port, metricsPort }: Places): string[] {
  const model = {
    model_loading_config: { model_id: modelName, model_source: miniFolder },
    accelerator_config: { kind: "cpu" },
    placement_group_config: { bundles: [{ CPU: 0.5 }] },
    deployment_config: { num_replicas: 2, ray_actor_options: { num_cpus: 0.1 } },
    engine_kwargs: engineSettings,
    runtime_env: { env_vars: variables },
  };
  return [join(import.meta.dirname, "serve-ray.py"), JSON.stringify({ port, metricsPort, model })];
}

/** One vLLM with two engines, which it numbers as ranks. It gives a request to the less busy one. */
export const dataParallel: WholeProgram = {
  program: {
    file: "vllm",
    environment: installFolder,
    variable: "PARLEY_TEST_VLLM_PROGRAM",
    args: ({ port }) => [
      "serve",
      miniFolder,
      ...flagsOf({ host: "127.0.0.1", port, served_model_name: modelName, ...engineSettings }),
      ...flagsOf({ data_parallel_size: 2, api_server_count: 1 }),
    ],
  },
  environment: { ...variables, VLLM_CPU_OMP_THREADS_BIND: "0|1" },
  counters: /^vllm:(?:request_success_total|num_requests_running)\{.*engine="(\d)"/,
  endsWithWorker: true,
  isProcess: ({ title }, worker) => title === `VLLM::EngineCore_DP${worker}`,
};

/** Ray Serve LLM with two replicas. The argument after its settings names the class of its request router. */
export const rayServe: WholeProgram = {
  program: { file: "python", variable: "PARLEY_TEST_RAY", args: rayArgs },
  environment: {
    ...variables,
    // Ray listens on the loopback interface only. It shall not keep a token in the home folder.
    RAY_AUTH_MODE: "disabled",
    RAY_USAGE_STATS_ENABLED: "0",
    RAY_metrics_report_interval_ms: "500",
    // By default its workers have 15, and starve on a busy machine.
    RAY_worker_niceness: "0",
  },
  metricsDelayMs: 2000,
  counters:
    /^ray_serve_(?:deployment_request_counter_total|replica_processing_queries)\{.*WorkerId="(\w+)".*deployment="LLMServer/,
  isProcess: ({ pid, title }, worker) => title.startsWith("ray::ServeReplica") && logsOf(pid).includes(worker),
};

/** Returns the names of the files that a process writes. A worker of Ray has its id in the name of its log. */
function logsOf(pid: number): string {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((name) => readlinkSync(join(folder, name)))
    .join("\n");
}
