import { availableParallelism } from "node:os";

export interface EnvironmentPlan {
  readonly isCpu: boolean;
  /** The folder of the engine's own sockets and files, which is cleared with it. */
  readonly temporaryFolder: string;
  /** GPUs by their numbers, as `CUDA_VISIBLE_DEVICES` takes them. */
  readonly gpus: string | undefined;
  /** Cores by their numbers, as `VLLM_CPU_OMP_THREADS_BIND` takes them. */
  readonly cores: string;
}

/** Returns the variables that differ from our own environment. */
export function engineVariables({ isCpu, temporaryFolder, gpus, cores }: EnvironmentPlan): Record<string, string> {
  return {
    TMPDIR: temporaryFolder,
    HF_HUB_OFFLINE: "1",
    VLLM_NO_USAGE_STATS: "1",
    PYTHONUNBUFFERED: "1",
    // By default, vLLM closes an idle connection one second after we do, which is a race on a busy machine.
    VLLM_HTTP_TIMEOUT_KEEP_ALIVE: "60",
    ...(gpus !== undefined && { CUDA_VISIBLE_DEVICES: gpus }),
    ...(isCpu && {
      VLLM_CPU_OMP_THREADS_BIND: cores,
      // Otherwise, without a compiler, the first request for log-probabilities would end the engine.
      TORCHDYNAMO_DISABLE: "1",
    }),
  };
}

/** Binds an engine to its own cores, because two engines on the same cores slow each other down extremely. */
export function coresFor(index: number, engines: number, available = availableParallelism()): string {
  const share = Math.max(1, Math.floor(available / engines));
  const first = (index * share) % available;
  return share === 1 ? String(first) : `${first}-${Math.min(available, first + share) - 1}`;
}
