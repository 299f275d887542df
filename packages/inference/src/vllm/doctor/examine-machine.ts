import { execFile } from "node:child_process";
import { once } from "node:events";
import { statfsSync } from "node:fs";
import { createServer } from "node:net";
import { totalmem } from "node:os";
import { promisify } from "node:util";
import { findContainerEngine } from "../container/container-engine.ts";
import { bad, good } from "../../finding.ts";
import type { Finding } from "../../finding.ts";

const run = promisify(execFile);

/** Runs a program and returns its output, or undefined if it is missing or fails. */
async function ask(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await run(program, args, { timeout: 15_000 })).stdout.trim();
  } catch {
    return undefined;
  }
}

/** One GPU as its driver reports it. */
export interface Gpu {
  readonly name: string;
  readonly memoryBytes: number;
  readonly driver: string;
}

/** Undefined: no driver answers. */
export async function findGpus(): Promise<readonly Gpu[] | undefined> {
  const text = await ask("nvidia-smi", [
    "--query-gpu=name,memory.total,driver_version",
    "--format=csv,noheader,nounits",
  ]);
  return text?.split("\n").map((line) => {
    const [name = "", megabytes = "0", driver = ""] = line.split(", ");
    return { name, memoryBytes: Number(megabytes) * 2 ** 20, driver };
  });
}

/** A missing GPU is not an error here, because a model may run on processors. */
export function describeGpus(gpus: readonly Gpu[] | undefined): Finding {
  if (!gpus?.length) return good("GPU and driver", "no driver answers (nvidia-smi)");
  return good("GPU and driver", `${gpus.map(({ name }) => name).join(", ")}; driver ${gpus[0]?.driver}`);
}

/** Examines the container engine, which only the container driver needs. */
export async function examineContainers(): Promise<Finding> {
  try {
    const { program, version } = await findContainerEngine();
    return good("container engine", `${program} ${version}`);
  } catch {
    return good("container engine", "none answers; only the container driver needs one");
  }
}

/** Examines the server's port: if another program uses it, the server cannot start. */
export async function examinePort(topic: string, host: string, port: number): Promise<Finding> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
    return good(topic, `${host}:${port} is free`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return bad(topic, `${host}:${port} cannot be had (${reason}): stop what uses it, or name another port.`);
  } finally {
    server.close();
  }
}

/** Examines shared memory, through which the processes of one engine exchange tensors. */
export function examineSharedMemory(): Finding {
  const leastBytes = 64 * 2 ** 20;
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    const seen = `${gigabytes(bavail * bsize)} free`;
    if (bavail * bsize >= leastBytes) return good("shared memory", seen);
    return bad(
      "shared memory",
      "/dev/shm is nearly full: remove what dead processes left, or enlarge it (--shm-size).",
      seen,
    );
  } catch {
    return good("shared memory", "this system has no /dev/shm");
  }
}

export function examineDisk(folder: string, neededBytes: number): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const seen = `${gigabytes(bavail * bsize)} free in ${folder}`;
  if (bavail * bsize >= neededBytes) return good("disk", seen);
  return bad(
    "disk",
    `At least ${gigabytes(neededBytes)} should be free: logs, ledger and temporary files need room.`,
    seen,
  );
}

/** Returns the memory in bytes that weights must fit into: that of the used GPUs, or that of the machine. */
export const memoryFor = (isCpu: boolean, gpus: readonly Gpu[], count: number): number =>
  isCpu ? totalmem() : gpus.slice(0, count).reduce((sum, gpu) => sum + gpu.memoryBytes, 0);

export const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
