import { setTimeout as wait } from "node:timers/promises";

/** Looks again and again until it is so; fails after the deadline with what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, deadlineMs = 15_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await wait(10);
  }
}

/** Whether there is such a process. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
