import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { engineVariables } from "./environment.ts";
import { serveArguments } from "./serve-arguments.ts";
import type { Version } from "./serve-arguments.ts";

/** What an operator decides about one model that vLLM serves, as a process or in a container. */
export interface ServeSettings {
  /** The model id, which it is served under as well. */
  readonly name: string;
  /** Folder of weights in the Hugging Face format. */
  readonly weights: string;
  /** Tokens; undefined: what the weights declare. */
  readonly contextLength: number | undefined;
  /** Choices at the same time. */
  readonly slots: number;
  /** Memory for the key-value cache; undefined: vLLM's own choice on a GPU. */
  readonly kvMemoryMb: number | undefined;
  /** The same where vLLM runs on processors, whose memory it would fill up to 92 % otherwise. */
  readonly cpuKvMemoryMb: number;
  /** Share of a GPU's memory, 0 to 1. */
  readonly gpuMemoryShare: number | undefined;
  readonly tensorParallel: number | undefined;
  /** GPUs by their numbers; undefined: all, or the processors where vLLM is built for those. */
  readonly gpus: string | undefined;
  /** Cores by their numbers. */
  readonly cores: string;
  /** More arguments of `vllm serve`. */
  readonly extraArguments: readonly string[];
}

/** The vLLM that is to be started, and what it sees of the machine. */
export interface ServeTarget {
  readonly version: Version;
  /** Built for processors, not for GPUs. */
  readonly isCpu: boolean;
  /** Paths as vLLM sees them: inside its container, where it has one. */
  readonly weights: string;
  readonly socketPath: string;
  readonly temporaryFolder: string;
  /** GPUs that vLLM has to choose itself; undefined: it sees only those that it may use. */
  readonly visibleGpus: string | undefined;
}

/** How `vllm serve` is started. */
export interface ServePlan {
  /** The arguments of `vllm`. */
  readonly args: readonly string[];
  /** What differs from the environment that it is started in. */
  readonly variables: Readonly<Record<string, string>>;
}

/** As long as a request may take at all is too long to hold up a restart; running streams have been waited for before. */
const shutdownSeconds = 60;

/** Requests that may wait inside vLLM, for every one that runs. */
const queuedPerSlot = 4;

/** The one plan of a start: process and container differ only in their target. */
export function planServe(settings: ServeSettings, model: ModelFolder, target: ServeTarget): ServePlan {
  const { slots, cores } = settings;
  const { isCpu, temporaryFolder, visibleGpus } = target;
  const options = {
    weights: target.weights,
    servedName: settings.name,
    listen: { socket: target.socketPath },
    contextLength: settings.contextLength,
    slots,
    queue: slots * queuedPerSlot,
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
