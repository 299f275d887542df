import { execFileSync } from "node:child_process";

/** The image built from deploy/vllm-cpu.Dockerfile. */
export const image = process.env["PARLEY_TEST_VLLM_IMAGE"] ?? "parley/vllm-cpu:0.32.0";

/** `docker` or `podman`, whichever has the image. */
export const containerProgram = ["docker", "podman"].find((program) => {
  try {
    return runWith(program, ["image", "inspect", "--format", "{{.Id}}", image]) !== "";
  } catch {
    return false;
  }
});
if (containerProgram === undefined) {
  console.warn(`The container driver was not tried: neither docker nor podman answers and has the image ${image}.`);
}

export const container = (...args: readonly string[]): string => runWith(containerProgram ?? "docker", args);

function runWith(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", stdio: "pipe" }).trim();
}

/** Returns the containers that Parley has started. */
export const ownContainers = (): string[] =>
  container("ps", "--all", "--quiet", "--filter", "label=parley.owner").split("\n").filter(Boolean);
