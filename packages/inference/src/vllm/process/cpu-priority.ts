import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** About a tenth of the time that a busy neighbour gets. */
const niceness = 10;

/**
 * Lets everything else on this machine have the processors first; for a process that leads a session of its own.
 *
 * vLLM's core asks without a pause whether its worker is done. Where it shared a processor with us, our event loop got
 * no turn for up to 2.5 s, and whole streams waited for others (Linux 6.18, which schedules sessions as groups).
 */
export function lowerCpuPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // It has ended already, or its session is no group here: then the first line was all there is to do.
  }
}
