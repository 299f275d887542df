import { mkdirSync, rmSync } from "node:fs";
import { EngineProcess } from "../../sidecar/engine-process.ts";
import { isFullDisk } from "../../sidecar/full-disk.ts";
import { EngineFiles } from "../sidecar/engine-files.ts";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { VllmSidecar } from "../sidecar/vllm-sidecar.ts";
import type { SidecarOptions, VllmHost } from "../sidecar/vllm-sidecar.ts";
import { withoutOurs } from "../serve/environment.ts";
import { findVllm } from "./find-vllm.ts";
import { giveWay } from "./cpu-priority.ts";
import { RunRecords, kill } from "./run-state.ts";
import { planProcess } from "./plan-process.ts";
import type { ProcessPlan, ProcessSettings } from "./plan-process.ts";

export interface VllmProcessOptions extends SidecarOptions, ProcessSettings {
  /** An existing folder whose path is short: sockets are made in it. */
  readonly runFolder: string;
}

/** `vllm serve` as a child process in a group of its own. */
class ProcessHost implements VllmHost {
  readonly #options: VllmProcessOptions;
  readonly #records: RunRecords;
  #plan: ProcessPlan | undefined;

  constructor(options: VllmProcessOptions) {
    this.#options = options;
    this.#records = new RunRecords(new EngineFiles(options.stateFolder, options.name).record);
  }

  async prepare(model: ModelFolder): Promise<ProcessPlan> {
    const { vllm, installFolder, runFolder } = this.#options;
    this.#plan = planProcess(this.#options, runFolder, model, await findVllm(vllm, installFolder));
    mkdirSync(this.#plan.folder, { recursive: true, mode: 0o700 });
    // vLLM finds out only after half a minute that its place is taken.
    rmSync(this.#plan.socketPath, { force: true });
    return this.#plan;
  }

  launch(hear: (line: string) => void): EngineProcess {
    if (!this.#plan) throw new Error("a start was not prepared");
    const { command, args, variables, folder, isCpu } = this.#plan;
    // Only its API process: the others are ended in their order when what a run has left is cleared.
    const env = { ...withoutOurs(process.env), ...variables };
    const started = new EngineProcess({ command, args, env, endsBy: "SIGTERM", kill }, hear);
    try {
      if (started.pid !== undefined) this.#records.write(started.pid, folder);
      if (started.pid !== undefined && isCpu) giveWay(started.pid);
    } catch (error) {
      started.kill(); // nobody could find it again
      throw error;
    }
    return started;
  }

  noteReady(): void {
    try {
      this.#records.noteShared();
    } catch (error) {
      // Its processes are on record already, and theirs is looked for while they live.
      if (!isFullDisk(error)) throw error;
    }
  }

  async cleanUp(): Promise<readonly string[]> {
    const found = await this.#records.clear();
    if (this.#plan) rmSync(this.#plan.folder, { recursive: true, force: true });
    return found;
  }
}

export function startVllmProcess(options: VllmProcessOptions): VllmSidecar {
  const started = new VllmSidecar(options, new ProcessHost(options));
  started.start();
  return started;
}
