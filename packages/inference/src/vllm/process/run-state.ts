import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/**
 * What an engine may leave when it, or we, are killed: vLLM's engine core and workers live on without their API process,
 * and shared memory outlives all of them. The record of a run says what to look for.
 */
export interface RunRecord {
  /** The leader of the process group. */
  readonly group: number;
  /** When the leader was started, in clock ticks since the machine was: a number that was used again tells by this. */
  readonly startTicks: number;
  /** Folder with its sockets and temporary files. */
  readonly folder: string;
  /** Its segments of shared memory. */
  readonly shared: readonly string[];
}

interface ProcessStat {
  readonly pid: number;
  readonly group: number;
  readonly startTicks: number;
}

/** Keeps the record of one engine in a file. */
export class RunRecords {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  write(group: number, folder: string): void {
    const startTicks = statOf(group)?.startTicks ?? 0;
    this.#save({ group, startTicks, folder, shared: [] });
  }

  /** To be called while all of its processes live: whose the segments are cannot be told afterwards. */
  noteShared(): void {
    const record = this.#read();
    if (record) this.#save({ ...record, shared: sharedBy(membersOf(record)) });
  }

  /** Kills what is left of the recorded run and clears what it has written. Resolves with what was found, in words. */
  async clear(): Promise<readonly string[]> {
    const record = this.#read();
    if (!record) return [];
    const members = membersOf(record);
    const shared = new Set([...record.shared, ...sharedBy(members)]);
    if (members.length > 0) await killGroup(record);
    const segments = [...shared].filter((path) => existsSync(path));
    for (const path of [...segments, record.folder, this.#file]) rmSync(path, { recursive: true, force: true });
    return [
      ...members.map(({ pid }) => `process ${pid}`),
      ...segments.map((path) => `shared memory ${basename(path)}`),
    ];
  }

  #read(): RunRecord | undefined {
    try {
      return JSON.parse(readFileSync(this.#file, "utf8")) as RunRecord; // written by us
    } catch {
      return undefined; // there was no run, or its record was cut short together with us
    }
  }

  #save(record: RunRecord): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    // Beside it first: a disk that fills up must not take the record of what runs.
    const fresh = `${this.#file}.new`;
    writeFileSync(fresh, JSON.stringify(record), { mode: 0o600 });
    renameSync(fresh, this.#file);
  }
}

/** Nobody else's group has this number, a start after the recorded one, and vLLM's processes in it. */
function membersOf({ group, startTicks }: RunRecord): ProcessStat[] {
  const leader = statOf(group);
  if (leader && leader.startTicks !== startTicks) return [];
  return allProcesses().filter((one) => one.group === group && one.startTicks >= startTicks);
}

/**
 * Python gives every group a process that removes named memory and semaphores once all others are gone; killed with them it
 * leaves those for ever. So it comes last, and only if it does not end by itself.
 */
async function killGroup(record: RunRecord): Promise<void> {
  const begunAt = Date.now();
  for (let left = membersOf(record); left.length > 0 && Date.now() - begunAt < 5000; left = membersOf(record)) {
    const isHasty = Date.now() - begunAt > 2000;
    for (const { pid } of left) if (isHasty || !isTracker(pid)) kill(pid);
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

/** Nobody there any more is what was wanted. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone.
  }
}

function allProcesses(): ProcessStat[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
}

/** Undefined where there is no such process, or one that is dead and only waits to be reaped. */
function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything; the numbers follow its last bracket.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : { pid, group: Number(fields[2]), startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

/** Segments and named semaphores in /dev/shm that these processes have mapped or open. */
function sharedBy(members: readonly ProcessStat[]): string[] {
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
