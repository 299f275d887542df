import { join } from "node:path";
import type { Command } from "../command.ts";
import { imageOf, pinOf } from "../images.ts";
import type { ImageName } from "../images.ts";
import { archiveOf } from "../step.ts";
import { environmentFor } from "./environment.ts";
import { runToEnd } from "./processes.ts";

/** Builds the Dockerfile of an image on its pinned base. @returns its tag @throws when it cannot be built */
export async function buildImage(image: ImageName, logFile: string, stop: AbortSignal): Promise<string> {
  const { dockerfile, pin } = imageOf(image);
  if (!dockerfile) throw new Error(`the image ${image} has no Dockerfile`);
  const { context, file } = dockerfile;
  const tag = `parley/${image}`;
  const base = ["--build-arg", `BASE=${pinOf(pin)}`];
  await docker(
    ["build", "--network", "host", ...base, "--file", join(context, file), "--tag", tag, context],
    logFile,
    stop,
  );
  return tag;
}

/** Saves an image as an archive, at `archiveOf`. */
export async function saveImage(image: ImageName, logFile: string, stop: AbortSignal): Promise<void> {
  const tag = await buildImage(image, logFile, stop);
  await docker(["save", "--output", archiveOf(image), tag], logFile, stop);
}

/** @throws when Docker ends with a failure */
export async function docker(
  args: readonly string[],
  logFile: string,
  stop: AbortSignal = new AbortController().signal,
): Promise<void> {
  const command: Command = ["docker", ...args];
  const environment = environmentFor("server", []);
  if ((await runToEnd(command, environment, logFile, stop)) !== 0) throw new Error(`${command.join(" ")} failed`);
}
