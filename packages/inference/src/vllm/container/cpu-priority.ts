import type { ContainerEngine } from "./container-engine.ts";

/** About a tenth of what a busy neighbour gets. */
const share = ["--cpu-shares", "102"];

/**
 * The arguments that put a container on processors behind everything else on the machine (why: `../process/cpu-priority.ts`).
 *
 * A share counts among the neighbours in the tree of control groups. An engine that makes these itself (`cgroupfs`) has
 * its containers below a group of its own with an ordinary share, whatever theirs are: there our event loop got no turn
 * for up to 30 s (Linux 6.18). So the container is put beside that group. Under systemd it stands beside the services.
 */
export async function cpuPriorityArguments(engine: ContainerEngine): Promise<readonly string[]> {
  const format =
    engine.program === "docker"
      ? "{{.CgroupDriver}} {{.SecurityOptions}}"
      : "{{.Host.CgroupManager}} {{if .Host.Security.Rootless}}rootless{{end}}";
  const info = await engine.run("info", "--format", format).catch(() => "");
  // Without root, a container cannot be put beside the group.
  const makesGroups = info.startsWith("cgroupfs") && !info.includes("rootless");
  return makesGroups ? ["--cgroup-parent", "/", ...share] : share;
}
