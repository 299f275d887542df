import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { oldestVersion, parseVersion } from "../serve/serve-arguments.ts";
import { planServe } from "../serve/serve-plan.ts";
import type { ServePlan, ServeSettings } from "../serve/serve-plan.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { gpuArguments } from "./gpus.ts";

/** What an operator decides about one model that vLLM serves in a container. */
export interface ContainerSettings extends ServeSettings {
  /** With its digest, so that it is the same image everywhere and always. */
  readonly image: string;
}

/** What the labels of an image say. */
export interface ImageFacts {
  /** Of the vLLM inside; undefined: no label says so. */
  readonly version: string | undefined;
  readonly isCpu: boolean;
}

export interface ContainerPlan {
  /** The arguments of `docker` or `podman`. */
  readonly args: readonly string[];
  readonly container: string;
  /** On this machine; the container sees it under another name. */
  readonly socketPath: string;
  readonly folder: string;
}

/** Whose a container is, and what it was started with. */
export const labels = { owner: "parley.owner", model: "parley.model", config: "parley.config" } as const;

/** Inside the container. */
const inside = { weights: "/weights", run: "/run/parley", temporary: "/tmp" } as const;

/** Tensors that processes hand to each other. */
const sharedMemory = "2g";

/** What the machine decides. */
export interface ContainerMachine {
  readonly program: ContainerEngine["program"];
  readonly runFolder: string;
  /** The arguments of `cpuPriorityArguments`, for a container that computes on processors. */
  readonly cpuPriority: readonly string[];
  /** Stands for this installation: another one's containers are left alone. */
  readonly owner: string;
  /** `uid:gid` that the socket must belong to. */
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
    // It listens on a socket in a mounted folder, and has nothing to fetch: there is no network to be reached by or to reach.
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
    // An image that does not tell its version is taken for the oldest supported one: an unknown flag would stop it.
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
