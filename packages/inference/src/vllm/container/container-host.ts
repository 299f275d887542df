import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { EngineProcess } from "../../supervision/engine-process.ts";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { VllmSidecar } from "../serve/vllm-sidecar.ts";
import type { SidecarOptions, VllmHost } from "../serve/vllm-sidecar.ts";
import { ContainerError, findContainerEngine } from "./container-engine.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { cpuPriorityArguments } from "./cpu-priority.ts";
import { assertGpus } from "./gpus.ts";
import { labels, planContainer } from "./plan-container.ts";
import type { ContainerPlan, ContainerSettings, ImageFacts } from "./plan-container.ts";

export interface VllmContainerOptions extends SidecarOptions, ContainerSettings {
  /** An existing folder with a short path, in which sockets are created. */
  readonly runFolder: string;
}

/** Runs `vllm serve` in a container. The attached client delivers its log and reports its end. */
class ContainerHost implements VllmHost {
  readonly #options: VllmContainerOptions;
  readonly #owner: string;
  #engine: ContainerEngine | undefined;
  #plan: ContainerPlan | undefined;

  constructor(options: VllmContainerOptions) {
    this.#options = options;
    this.#owner = createHash("sha256").update(options.stateFolder).digest("hex").slice(0, 12);
  }

  async prepare(model: ModelFolder): Promise<ContainerPlan> {
    const engine = (this.#engine ??= await findContainerEngine());
    const image = await inspectImage(engine, this.#options.image);
    if (!image.isCpu) await assertGpus(engine);
    const user = userOf(process);
    this.#plan = planContainer(this.#options, model, image, {
      program: engine.program,
      cpuPriority: await cpuPriorityArguments(engine),
      runFolder: this.#options.runFolder,
      owner: this.#owner,
      user,
    });
    mkdirSync(this.#plan.folder, { recursive: true, mode: 0o700 });
    return this.#plan;
  }

  launch(onLogLine: (line: string) => void): EngineProcess {
    if (!this.#plan || !this.#engine) throw new Error("a start was not prepared");
    // The client passes SIGTERM on to vLLM. Killing the client would not end the container.
    const { args, folder } = this.#plan;
    return new EngineProcess(
      // Podman's monitor writes a file into its working directory when memory runs out; this folder is deleted with the
      // container.
      { command: this.#engine.program, args, folder, endsBy: "SIGTERM", kill: () => void this.#remove() },
      onLogLine,
    );
  }

  noteReady(): void {
    // Nothing to record: everything that vLLM uses is inside the container.
  }

  /** Removes containers found by their labels, so those of a killed server are found as well. */
  async cleanUp(): Promise<readonly string[]> {
    const engine = (this.#engine ??= await findContainerEngine().catch(() => undefined));
    if (!engine) return [];
    const filters = [`label=${labels.owner}=${this.#owner}`, `label=${labels.model}=${this.#options.name}`];
    const found = await engine.run("ps", "--all", "--quiet", ...filters.flatMap((filter) => ["--filter", filter]));
    const containers = found.split("\n").filter((id) => id !== "");
    for (const id of containers) await engine.run("rm", "--force", id).catch(() => "");
    if (this.#plan) rmSync(this.#plan.folder, { recursive: true, force: true });
    return containers.map((id) => `container ${id}`);
  }

  async #remove(): Promise<void> {
    if (this.#plan) await this.#engine?.run("rm", "--force", this.#plan.container).catch(() => "");
  }
}

/**
 * Checks that the image exists locally. It is never fetched here: the operator decides about gigabytes, and the digest
 * guarantees that it is the same image.
 */
export async function inspectImage(engine: ContainerEngine, image: string): Promise<ImageFacts> {
  try {
    const labelsText = await engine.run("image", "inspect", "--format", "{{json .Config.Labels}}", image);
    const found = (JSON.parse(labelsText) ?? {}) as Readonly<Record<string, string>>; // documented
    return { version: found["parley.vllm"], isCpu: found["parley.device"] === "cpu" };
  } catch (cause) {
    throw new ContainerError(
      `The image ${image} is not on this machine: fetch it with: ${engine.program} pull ${image}`,
      { cause },
    );
  }
}

/** Returns the owner that the socket in the mounted folder must have: us. */
export const userOf = ({ getuid, getgid }: Pick<NodeJS.Process, "getuid" | "getgid">): string =>
  `${getuid?.() ?? 0}:${getgid?.() ?? 0}`;

export function startVllmContainer(options: VllmContainerOptions): VllmSidecar {
  const started = new VllmSidecar(options, new ContainerHost(options));
  started.start();
  return started;
}
