import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly name: string;
}

/** Returns the living processes of an engine's group. */
export function processesOf(group: number): ProcessRow[] {
  const lines = execFileSync("ps", ["-eo", "pid=,pgid=,stat=,comm="], { encoding: "utf8" }).trim().split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, pgid, stat = ""]) => Number(pgid) === group && !stat.startsWith("Z"))
    .map(([pid = "", , , ...name]) => ({ pid: Number(pid), name: name.join(" ") }));
}

const names = { api: "vllm", core: "VLLM::EngineCor", worker: "VLLM::Worker" } as const;

/** Returns one of vLLM's processes. If a role has no separate process, returns the process that plays it. */
export function pidOf(group: number, part: keyof typeof names): number {
  const found = processesOf(group).find((one) => one.name.startsWith(names[part]));
  return found?.pid ?? group;
}

/** Shared memory and semaphores of Python programs. */
export const sharedSegments = (): string[] =>
  existsSync("/dev/shm") ? readdirSync("/dev/shm").filter((name) => /^(psm_|sem\.mp-)/.test(name)) : [];
