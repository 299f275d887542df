import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { planServe } from "../serve/serve-plan.ts";
import type { ServePlan, ServeSettings } from "../serve/serve-plan.ts";
import type { FoundVllm } from "./find-vllm.ts";

/** The operator's settings of one model that vLLM serves as a process on this machine. */
export interface ProcessSettings extends ServeSettings {
  /** A virtual environment with vLLM, or its program; undefined: the installed one, or the one on the path. */
  readonly vllm: string | undefined;
  /** The path to which `parley vllm install` installs one. */
  readonly installFolder: string;
}

/** The exact command of an engine's start. */
export interface ProcessPlan extends ServePlan {
  readonly command: string;
  readonly socketPath: string;
  /** The folder of its sockets and temporary files. */
  readonly folder: string;
  /** True if it runs on the processors, which the server needs as well. */
  readonly isCpu: boolean;
}

export function planProcess(
  settings: ProcessSettings,
  runFolder: string,
  model: ModelFolder,
  { program, version, isCpu }: FoundVllm,
): ProcessPlan {
  const { name, weights, gpus } = settings;
  const folder = join(runFolder, createHash("sha256").update(name).digest("hex").slice(0, 8));
  const socketPath = join(folder, "api");
  const target = { version, isCpu, weights, socketPath, temporaryFolder: folder, visibleGpus: gpus };
  return { ...planServe(settings, model, target), command: program, socketPath, folder, isCpu };
}
