import { existsSync, readdirSync } from "node:fs";
import { ContainerError } from "./container-engine.ts";
import type { ContainerEngine } from "./container-engine.ts";

/** The folders of device descriptions (CDI). Podman finds GPUs only through them. */
const deviceFolders = ["/etc/cdi", "/var/run/cdi"];

/** Returns the arguments that pass GPUs into a container. `gpus` are their numbers; undefined means all. */
export function gpuArguments(program: ContainerEngine["program"], gpus: string | undefined): string[] {
  if (program === "docker") return ["--gpus", gpus === undefined ? "all" : `"device=${gpus}"`];
  return (gpus ?? "all").split(",").flatMap((gpu) => ["--device", `nvidia.com/gpu=${gpu}`]);
}

/** @throws {ContainerError} if the container engine cannot provide a GPU */
export async function assertGpus(engine: ContainerEngine, folders: readonly string[] = deviceFolders): Promise<void> {
  const info = await engine.run("info", "--format", "{{json .}}").catch(() => "");
  if (engine.program === "docker" ? /nvidia/i.test(info) : describesGpus(folders)) return;
  throw new ContainerError(
    `${engine.program} knows of no GPU: install the NVIDIA container toolkit${engine.program === "podman" ? " (nvidia-ctk cdi generate)" : ""}, or use the image for processors (deploy/vllm-cpu.Dockerfile).`,
  );
}

const describesGpus = (folders: readonly string[]): boolean =>
  folders.some((folder) => existsSync(folder) && readdirSync(folder).some((name) => /nvidia/i.test(name)));
