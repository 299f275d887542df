import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { gpuArguments } from "./gpus.ts";
import { engineVariables } from "../serve/environment.ts";
import { oldestVersion, parseVersion, serveArguments } from "../serve/serve-arguments.ts";

/** What an operator decides about one model that vLLM serves in a container. */
export interface ContainerSettings {
  readonly name: string;
  readonly weights: string;
  /** With its digest, so that it is the same image everywhere and always. */
  readonly image: string;
  readonly contextLength: number | undefined;
  readonly slots: number;
  readonly kvMemoryMb: number | undefined;
  readonly cpuKvMemoryMb: number;
  readonly gpuMemoryShare: number | undefined;
  readonly tensorParallel: number | undefined;
  /** GPUs by their numbers; undefined: all there are, or the processors where the image is built for those. */
  readonly gpus: string | undefined;
  readonly cores: string;
  readonly extraArguments: readonly string[];
}

/** What the image says of itself, in its labels. */
export interface ImageFacts {
  /** Of the vLLM inside; undefined: it does not say. */
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
const inside = { weights: "/weights", run: "/run/parley" } as const;

/** Tensors that processes hand to each other. */
const sharedMemory = "2g";

/** What is decided by the machine. */
interface Place {
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
  place: Place,
): ContainerPlan {
  const id = createHash("sha256").update(`${place.owner} ${settings.name}`).digest("hex").slice(0, 12);
  const folder = join(place.runFolder, id.slice(0, 8));
  const container = `parley-${id}`;
  const serve = serveOf(settings, model, image);
  const variables = {
    ...engineVariables({ isCpu: image.isCpu, temporaryFolder: "/tmp", gpus: undefined, cores: settings.cores }),
    HOME: "/tmp",
  };
  const config = createHash("sha256")
    .update(JSON.stringify([settings.image, serve, variables]))
    .digest("hex")
    .slice(0, 16);
  const args: readonly (readonly string[])[] = [
    ["run", "--rm", "--init", "--name", container],
    [
      "--label",
      `${labels.owner}=${place.owner}`,
      "--label",
      `${labels.model}=${settings.name}`,
      "--label",
      `${labels.config}=${config}`,
    ],
    // It listens on a socket in a mounted folder, and has nothing to fetch: there is no network to be reached by or to reach.
    ["--network", "none", "--restart", "no", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ["--read-only", "--tmpfs", "/tmp:exec", "--shm-size", sharedMemory, "--user", place.user],
    ["--volume", `${settings.weights}:${inside.weights}:ro`, "--volume", `${folder}:${inside.run}`],
    ["--volume", "parley-vllm-cache:/tmp/.cache"],
    image.isCpu ? place.cpuPriority : gpuArguments(place.program, settings.gpus),
    Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ["--entrypoint", "vllm", settings.image, ...serve],
  ];
  return { args: args.flat(), container, socketPath: join(folder, "api"), folder };
}

function serveOf(settings: ContainerSettings, model: ModelFolder, { version, isCpu }: ImageFacts): string[] {
  const plan = {
    weights: inside.weights,
    servedName: settings.name,
    listen: { socket: `${inside.run}/api` },
    contextLength: settings.contextLength,
    slots: settings.slots,
    queue: settings.slots * 4,
    isCpu,
    kvMemoryMb: settings.kvMemoryMb ?? (isCpu ? settings.cpuKvMemoryMb : undefined),
    gpuMemoryShare: settings.gpuMemoryShare,
    tensorParallel: settings.tensorParallel,
    dtype: model.quantization === "bf16" ? "bfloat16" : "auto",
    shutdownSeconds: 60,
    extra: settings.extraArguments,
  };
  // What an image does not tell is taken for the oldest that is supported: an unknown flag would stop it.
  return serveArguments(plan, (version === undefined ? undefined : parseVersion(version)) ?? oldestVersion);
}
