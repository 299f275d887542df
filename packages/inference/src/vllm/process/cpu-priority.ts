import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** The nice value: about a tenth of the time that a busy neighbour gets. */
const niceness = 10;

/**
 * Lowers the CPU priority of a process below everything else on this machine. The process must lead its own session.
 *
 * vLLM's core polls its worker in a busy loop. When it shared a processor with the server, our event loop got no CPU time for
 * up to 2.5 s, and whole streams waited for others (Linux 6.18, which schedules sessions as groups).
 */
export function lowerCpuPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // The process has ended already, or its session is not a scheduling group here. In the latter case the first line was
    // enough.
  }
}
