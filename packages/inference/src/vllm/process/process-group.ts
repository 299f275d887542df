import { existsSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** The processes of one run of vLLM, and the shared memory that they use, as Linux lists them under `/proc`. */

/** Identifies a process group permanently: process ids are reused, but not together with the start time. */
export interface ProcessGroup {
  /** The leader's process id. */
  readonly group: number;
  /** In clock ticks since boot. */
  readonly startTicks: number;
}

interface ProcessStat extends ProcessGroup {
  readonly pid: number;
}

export const startTicksOf = (pid: number): number | undefined => statOf(pid)?.startTicks;

/** Returns the living processes of a group, or none if its number now belongs to another group. */
export function membersOf({ group, startTicks }: ProcessGroup): ProcessStat[] {
  const leader = statOf(group);
  if (leader && leader.startTicks !== startTicks) return [];
  return allProcesses().filter((one) => one.group === group && one.startTicks >= startTicks);
}

/**
 * Kills all processes of a group. Python's tracker process removes named memory and semaphores after all others are gone. If
 * it were killed with them, these would stay forever, so it is killed last, and only if it does not end by itself.
 */
export async function killGroup(processes: ProcessGroup): Promise<void> {
  const begunAt = performance.now();
  for (
    let left = membersOf(processes);
    left.length > 0 && performance.now() - begunAt < 5000;
    left = membersOf(processes)
  ) {
    const isOverdue = performance.now() - begunAt > 2000;
    for (const { pid } of left) if (isOverdue || !isTracker(pid)) kill(pid);
    await wait(20);
  }
}

function isTracker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("multiprocessing.resource_tracker");
  } catch {
    return false;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}

function allProcesses(): ProcessStat[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
}

/** Returns undefined if there is no such process, or if it is a zombie. */
function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may contain any character. The numbers follow the last bracket.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : { pid, group: Number(fields[2]), startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

/** Returns the segments and named semaphores in /dev/shm that these processes have mapped or open. */
export function sharedMemoryOf(members: readonly ProcessStat[]): string[] {
  const found = members.flatMap(({ pid }) => [...mappedBy(pid), ...openIn(pid)]);
  return [...new Set(found.filter((path) => path.startsWith("/dev/shm/") && !path.endsWith(" (deleted)")))];
}

function mappedBy(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/maps`, "utf8").match(/\/dev\/shm\/[^\n]+/g) ?? [];
  } catch {
    return [];
  }
}

function openIn(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return "";
      }
    });
  } catch {
    return [];
  }
}
