import { readFileSync, readdirSync } from "node:fs";

/** Resources that all processes of a gateway have used. */
export interface ProcessUse {
  /** Processor time of all its processes, including those that have ended. */
  readonly cpuMicros: number;
  /** Memory in bytes; shared pages are counted once. */
  readonly memoryBytes: number;
}

/** The kernel's unit of processor time for user space: a hundredth of a second everywhere. */
const tickMicros = 10_000;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

export function useOfTree(root: number): ProcessUse {
  const tree = treeOf(root);
  const ticks = tree.reduce((sum, stat) => sum + stat.ticks, 0);
  const memoryBytes = tree.reduce((sum, { pid }) => sum + memoryOf(pid), 0);
  return { cpuMicros: ticks * tickMicros, memoryBytes };
}

export function cpuOfTree(root: number): number {
  return treeOf(root).reduce((sum, { ticks }) => sum + ticks, 0) * tickMicros;
}

/** Finds the process and all its descendants. */
function treeOf(root: number): Stat[] {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readStat(name) ?? []) : []));
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** Parses `/proc/PID/stat`, see proc_pid_stat(5). The process name may contain anything, so fields are counted from its end. */
function readStat(pid: string): Stat | undefined {
  const text = readOr(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const number = (field: number): number => Number(fields[field - 3]);
  // The time of the process, and of its children that have ended and were waited for.
  return { pid: Number(pid), parent: number(4), ticks: number(14) + number(15) + number(16) + number(17) };
}

function memoryOf(pid: number): number {
  const text = readOr(`/proc/${pid}/smaps_rollup`) ?? "";
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** Reads a file of `/proc`. Returns undefined if the process has ended. */
function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
