import { readFileSync } from "node:fs";

/** Resident memory of a process and of all that it has started, in bytes. It reads Linux's `/proc`. */
export function memoryOf(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, one) => sum + residentBytes(one), 0);
}

function residentBytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return Number(kilobytes) * 1024;
}

export function descendantsOf(pid: number): number[] {
  const children = readProc(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** A process that has ended has no files there. */
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
  #mostBytes: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#beforeBytes = memoryOf(pid);
    this.#mostBytes = this.#beforeBytes;
    this.#timer = setInterval(() => this.#look(), 100);
  }

  /** How much more it had at its peak than when the watch began. */
  get grownBytes(): number {
    this.#look();
    return this.#mostBytes - this.#beforeBytes;
  }

  #look(): void {
    this.#mostBytes = Math.max(this.#mostBytes, memoryOf(this.#pid));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
