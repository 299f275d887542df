import { readFileSync } from "node:fs";

/** Returns the resident memory of a process and all its descendants in bytes, from Linux's `/proc`. */
export function memoryOf(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, one) => sum + residentBytes(one), 0);
}

function residentBytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return Number(kilobytes) * 1024;
}

function descendantsOf(pid: number): number[] {
  const children = readProc(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Reads a file of `/proc`, or "" if the process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

/** Looks at the memory of a process every 100 ms, until it is disposed. */
export class MemoryWatch implements Disposable {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #beforeBytes: number;
  #peakBytes: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#beforeBytes = memoryOf(pid);
    this.#peakBytes = this.#beforeBytes;
    this.#timer = setInterval(() => this.#look(), 100);
  }

  /** The peak minus the memory at the start of the watch, in bytes. */
  get grownBytes(): number {
    this.#look();
    return this.#peakBytes - this.#beforeBytes;
  }

  #look(): void {
    this.#peakBytes = Math.max(this.#peakBytes, memoryOf(this.#pid));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
