import { execFileSync } from "node:child_process";
import { pinOf } from "../images.ts";
import type { PinName } from "../images.ts";
import { root } from "../root.ts";

/** An image of a release. */
export interface ReleasedImage {
  readonly tag: string;
  readonly dockerfile: string;
  readonly pin: PinName;
}

/** The images of a release. That of vLLM for processors is vLLM's own work, and operators build it where they need it. */
export const releasedImages = [
  { tag: "parley/server", dockerfile: "deploy/server.Dockerfile", pin: "node" },
  { tag: "parley/conformance", dockerfile: "deploy/conformance.Dockerfile", pin: "node" },
  { tag: "parley/fuzzer", dockerfile: "deploy/fuzzer.Dockerfile", pin: "python" },
] as const satisfies readonly ReleasedImage[];

/** Runs Docker's client in the root of the repository. @returns its output @throws {Error} when it fails */
export const docker = (...args: readonly string[]): string =>
  execFileSync("docker", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });

/** Builds an image from the root of the repository. Docker shows its progress on standard error. @throws {Error} when it cannot be built */
export function buildImage({ tag, dockerfile, pin }: ReleasedImage, ...flags: readonly string[]): void {
  const base = ["--build-arg", `BASE=${pinOf(pin)}`, "--file", dockerfile];
  docker("build", "--network", "host", ...base, "--tag", tag, ...flags, ".");
}
