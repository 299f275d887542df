import { setTimeout as wait } from "node:timers/promises";

/** Polls until the condition holds. After the deadline it fails with a message that names the condition. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, deadlineMs = 15_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await wait(10);
  }
}

/** Checks if a process exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
