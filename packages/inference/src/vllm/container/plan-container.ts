import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { oldestVersion, parseVersion } from "../serve/serve-arguments.ts";
import { planServe } from "../serve/serve-plan.ts";
import type { ServePlan, ServeSettings } from "../serve/serve-plan.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { gpuArguments } from "./gpus.ts";

/** The operator's settings of one model that vLLM serves in a container. */
export interface ContainerSettings extends ServeSettings {
  /** The image with its digest, so that it is always the same image. */
  readonly image: string;
}

/** The data in the labels of an image. */
export interface ImageFacts {
  /** The version of vLLM inside; undefined: no label gives it. */
  readonly version: string | undefined;
  readonly isCpu: boolean;
}

export interface ContainerPlan {
  /** The arguments of `docker` or `podman`. */
  readonly args: readonly string[];
  readonly container: string;
  /** The path on this machine. The container sees it under another name. */
  readonly socketPath: string;
  readonly folder: string;
}

/** Labels that tell the owner of a container and its settings. */
export const labels = { owner: "parley.owner", model: "parley.model", config: "parley.config" } as const;

/** Paths inside the container. */
const inside = { weights: "/weights", run: "/run/parley", temporary: "/tmp" } as const;

/** The size of the shared memory in which processes exchange tensors. */
const sharedMemory = "2g";

/** Values that depend on the machine. */
export interface ContainerMachine {
  readonly program: ContainerEngine["program"];
  readonly runFolder: string;
  /** The result of `cpuPriorityArguments`, for a container that runs on processors. */
  readonly cpuPriority: readonly string[];
  /** Identifies this installation. Containers of other installations are not touched. */
  readonly owner: string;
  /** The `uid:gid` that must own the socket. */
  readonly user: string;
}

export function planContainer(
  settings: ContainerSettings,
  model: ModelFolder,
  image: ImageFacts,
  machine: ContainerMachine,
): ContainerPlan {
  const id = shortHash(`${machine.owner} ${settings.name}`, 12);
  const folder = join(machine.runFolder, id.slice(0, 8));
  const container = `parley-${id}`;
  const serve = planInside(settings, model, image);
  const config = shortHash(JSON.stringify([settings.image, serve.args, serve.variables]), 16);
  const args: readonly (readonly string[])[] = [
    ["run", "--rm", "--init", "--name", container],
    ["--label", `${labels.owner}=${machine.owner}`, "--label", `${labels.model}=${settings.name}`],
    ["--label", `${labels.config}=${config}`],
    // vLLM listens on a socket in a mounted folder and downloads nothing, so the container has no network.
    ["--network", "none", "--restart", "no", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ["--read-only", "--tmpfs", "/tmp:exec", "--shm-size", sharedMemory, "--user", machine.user],
    ["--volume", `${settings.weights}:${inside.weights}:ro`, "--volume", `${folder}:${inside.run}`],
    ["--volume", "parley-vllm-cache:/tmp/.cache"],
    image.isCpu ? machine.cpuPriority : gpuArguments(machine.program, settings.gpus),
    Object.entries(serve.variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ["--entrypoint", "vllm", settings.image, ...serve.args],
  ];
  return { args: args.flat(), container, socketPath: join(folder, "api"), folder };
}

function planInside(settings: ContainerSettings, model: ModelFolder, { version, isCpu }: ImageFacts): ServePlan {
  const plan = planServe(settings, model, {
    // An image without a version counts as the oldest supported one, because an unknown flag would stop vLLM.
    version: (version === undefined ? undefined : parseVersion(version)) ?? oldestVersion,
    isCpu,
    weights: inside.weights,
    socketPath: `${inside.run}/api`,
    temporaryFolder: inside.temporary,
    visibleGpus: undefined,
  });
  return { ...plan, variables: { ...plan.variables, HOME: inside.temporary } };
}

const shortHash = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);
