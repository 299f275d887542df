import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { engineVariables } from "../serve/environment.ts";
import type { FoundVllm } from "./find-vllm.ts";
import { serveArguments } from "../serve/serve-arguments.ts";

/** What an operator decides about one model that vLLM serves here. */
export interface ProcessSettings {
  /** The model id, which it is served under as well. */
  readonly name: string;
  /** Folder of weights in the Hugging Face form. */
  readonly weights: string;
  /** A virtual environment with vLLM, or its program; undefined: the installed one, or the one on the path. */
  readonly vllm: string | undefined;
  /** Where `parley vllm install` puts one. */
  readonly installFolder: string;
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
  readonly gpus: string | undefined;
  readonly cores: string;
  /** More arguments of `vllm serve`. */
  readonly extraArguments: readonly string[];
}

/** How one engine is started, to the letter. */
export interface ProcessPlan {
  readonly command: string;
  readonly args: readonly string[];
  /** What differs from our own environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly socketPath: string;
  /** Its sockets and temporary files. */
  readonly folder: string;
  /** It computes on the processors, which the server needs too. */
  readonly isCpu: boolean;
}

/** As long as a request may take at all is too long to hold up a restart; running streams have been waited for before. */
const shutdownSeconds = 60;

export function planProcess(
  settings: ProcessSettings,
  runFolder: string,
  model: ModelFolder,
  vllm: FoundVllm,
): ProcessPlan {
  const { isCpu } = vllm;
  const folder = join(runFolder, createHash("sha256").update(settings.name).digest("hex").slice(0, 8));
  const socketPath = join(folder, "api");
  const plan = {
    weights: settings.weights,
    servedName: settings.name,
    listen: { socket: socketPath },
    contextLength: settings.contextLength,
    slots: settings.slots,
    queue: settings.slots * 4,
    isCpu,
    kvMemoryMb: settings.kvMemoryMb ?? (isCpu ? settings.cpuKvMemoryMb : undefined),
    gpuMemoryShare: settings.gpuMemoryShare,
    tensorParallel: settings.tensorParallel,
    dtype: model.quantization === "bf16" ? "bfloat16" : "auto",
    shutdownSeconds,
    extra: settings.extraArguments,
  };
  return {
    command: vllm.program,
    args: serveArguments(plan, vllm.version),
    variables: engineVariables({ isCpu, temporaryFolder: folder, gpus: settings.gpus, cores: settings.cores }),
    socketPath,
    folder,
    isCpu,
  };
}
