import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { engineVariables } from "./environment.ts";
import { serveArguments } from "./serve-arguments.ts";
import type { Version } from "./serve-arguments.ts";

/** The operator's settings of one model that vLLM serves, as a process or in a container. */
export interface ServeSettings {
  /** The model id, which is also the name in vLLM. */
  readonly name: string;
  /** Folder of weights in the Hugging Face format. */
  readonly weights: string;
  /** The context length in tokens; undefined: the length that the weights declare. */
  readonly contextLength: number | undefined;
  /** The maximum number of choices at the same time. */
  readonly slots: number;
  /** Memory for the key-value cache in bytes; undefined: vLLM's default on a GPU. */
  readonly kvMemoryMb: number | undefined;
  /** The same if vLLM runs on processors, where it would otherwise fill 92 % of the memory. */
  readonly cpuKvMemoryMb: number;
  /** Share of a GPU's memory, 0 to 1. */
  readonly gpuMemoryShare: number | undefined;
  readonly tensorParallel: number | undefined;
  /** GPUs by their numbers; undefined: all, or the processors where vLLM is built for those. */
  readonly gpus: string | undefined;
  /** Cores by their numbers. */
  readonly cores: string;
  /** Additional arguments of `vllm serve`. */
  readonly extraArguments: readonly string[];
}

/** The vLLM to start, and its view of the machine. */
export interface ServeTarget {
  readonly version: Version;
  /** Built for processors, not for GPUs. */
  readonly isCpu: boolean;
  /** Paths as vLLM sees them: inside its container, where it has one. */
  readonly weights: string;
  readonly socketPath: string;
  readonly temporaryFolder: string;
  /** The GPUs that vLLM must select itself; undefined: it sees only those that it may use. */
  readonly visibleGpus: string | undefined;
}

/** The command of a start of `vllm serve`. */
export interface ServePlan {
  /** The arguments of `vllm`. */
  readonly args: readonly string[];
  /** The variables that differ from the environment of the start. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Seconds that vLLM waits for running streams at shutdown. It is shorter than the longest request, because the server has
 * waited for running streams before.
 */
const shutdownSeconds = 60;

/** Maximum number of requests in vLLM, waiting and running, for each slot. */
const requestsPerSlot = 4;

/** Plans a start. Process and container differ only in their target. */
export function planServe(settings: ServeSettings, model: ModelFolder, target: ServeTarget): ServePlan {
  const { slots, cores } = settings;
  const { isCpu, temporaryFolder, visibleGpus } = target;
  const options = {
    weights: target.weights,
    servedName: settings.name,
    listen: { socket: target.socketPath },
    contextLength: settings.contextLength,
    slots,
    maxRequests: slots * requestsPerSlot,
    isCpu,
    kvMemoryMb: settings.kvMemoryMb ?? (isCpu ? settings.cpuKvMemoryMb : undefined),
    gpuMemoryShare: settings.gpuMemoryShare,
    tensorParallel: settings.tensorParallel,
    dtype: model.quantization === "bf16" ? "bfloat16" : "auto",
    shutdownSeconds,
    extra: settings.extraArguments,
  };
  return {
    args: serveArguments(options, target.version),
    variables: engineVariables({ isCpu, temporaryFolder, gpus: visibleGpus, cores }),
  };
}
