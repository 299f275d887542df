import type { ContainerEngine } from "./container-engine.ts";

/** The CPU weight: about a tenth of the time that a busy neighbour gets. */
const share = ["--cpu-shares", "102"];

/**
 * Returns the arguments that give a container lower CPU priority than everything else on the machine
 * (`../process/cpu-priority.ts` gives the reason).
 *
 * A CPU weight counts only among siblings in the tree of control groups. A container engine that manages groups itself
 * (`cgroupfs`) puts its containers below one group of ordinary weight, whatever their own weights are. There our event loop
 * got no CPU time for up to 30 s (Linux 6.18). So the container becomes a sibling of that group. Under systemd it is a sibling
 * of the services.
 */
export async function cpuPriorityArguments(engine: ContainerEngine): Promise<readonly string[]> {
  const format =
    engine.program === "docker"
      ? "{{.CgroupDriver}} {{.SecurityOptions}}"
      : "{{.Host.CgroupManager}} {{if .Host.Security.Rootless}}rootless{{end}}";
  const info = await engine.run("info", "--format", format).catch(() => "");
  // Without root, a container cannot become a sibling of the group.
  const makesGroups = info.startsWith("cgroupfs") && !info.includes("rootless");
  return makesGroups ? ["--cgroup-parent", "/", ...share] : share;
}
