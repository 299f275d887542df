import { mkdirSync, rmSync } from "node:fs";
import { lowerCpuPriority } from "@parley/common/lower-cpu-priority";
import { EngineProcess } from "../../supervision/engine-process.ts";
import { isFullDisk } from "../../supervision/full-disk.ts";
import { EngineFiles } from "../serve/engine-files.ts";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { VllmSidecar } from "../serve/vllm-sidecar.ts";
import type { SidecarOptions, VllmHost } from "../serve/vllm-sidecar.ts";
import { findVllm } from "./find-vllm.ts";
import { kill } from "./process-group.ts";
import { RunStateFile } from "./run-state.ts";
import { planProcess } from "./plan-process.ts";
import type { ProcessPlan, ProcessSettings } from "./plan-process.ts";

export interface VllmProcessOptions extends SidecarOptions, ProcessSettings {
  /** An existing folder with a short path, in which sockets are created. */
  readonly runFolder: string;
}

/**
 * The CPU priority of vLLM on a processor. Its core polls its worker in a busy loop. When it shared a processor with the server,
 * our event loop got no CPU time for up to 2.5 s, and whole streams waited for others (Linux 6.18).
 */
const niceness = 10;

/** Runs `vllm serve` as a child process in its own process group. */
class ProcessHost implements VllmHost {
  readonly #options: VllmProcessOptions;
  readonly #runState: RunStateFile;
  #plan: ProcessPlan | undefined;

  constructor(options: VllmProcessOptions) {
    this.#options = options;
    this.#runState = new RunStateFile(new EngineFiles(options.stateFolder, options.name).runState);
  }

  async prepare(model: ModelFolder): Promise<ProcessPlan> {
    const { vllm, installFolder, runFolder } = this.#options;
    this.#plan = planProcess(this.#options, runFolder, model, await findVllm(vllm, installFolder));
    mkdirSync(this.#plan.folder, { recursive: true, mode: 0o700 });
    // Checked here, because vLLM would notice only after half a minute that its socket exists.
    rmSync(this.#plan.socketPath, { force: true });
    return this.#plan;
  }

  launch(onLogLine: (line: string) => void): EngineProcess {
    if (!this.#plan) throw new Error("a start was not prepared");
    const { command, args, variables, folder, isCpu } = this.#plan;
    // Kills only the API process. The others are ended in order when the leftovers of the run are cleared.
    const started = new EngineProcess({ command, args, env: variables, endsBy: "SIGTERM", kill }, onLogLine);
    try {
      if (started.pid !== undefined) this.#runState.write(started.pid, folder);
      if (started.pid !== undefined && isCpu) lowerCpuPriority(started.pid, niceness);
    } catch (error) {
      started.kill(); // without its state it could not be found again
      throw error;
    }
    return started;
  }

  noteReady(): void {
    try {
      this.#runState.noteSharedMemory();
    } catch (error) {
      // The processes are recorded already, and their shared memory can be found as long as they live.
      if (!isFullDisk(error)) throw error;
    }
  }

  async cleanUp(): Promise<readonly string[]> {
    const found = await this.#runState.clearOrphans();
    if (this.#plan) rmSync(this.#plan.folder, { recursive: true, force: true });
    return found;
  }
}

export function startVllmProcess(options: VllmProcessOptions): VllmSidecar {
  const started = new VllmSidecar(options, new ProcessHost(options));
  started.start();
  return started;
}
