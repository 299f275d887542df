import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { secretNames } from "../command.ts";
import type { SecretName } from "../command.ts";
import { imageOf } from "../images.ts";
import type { ImageName } from "../images.ts";
import { root } from "../root.ts";

/** Returns the environment of a process of this image: this process's environment with only the given secrets, its programs first. */
export function environmentFor(image: ImageName, secrets: readonly SecretName[]): NodeJS.ProcessEnv {
  const hidden = new Set<string>(secretNames.filter((name) => !secrets.includes(name)));
  const shown = Object.entries(process.env).filter(([name]) => !hidden.has(name));
  return { ...Object.fromEntries(shown), PATH: pathFor(image) };
}

function pathFor(image: ImageName): string {
  const { path } = imageOf(image).host;
  const own = [...(path === undefined ? [] : [path]), "node_modules/.bin"].map((folder) => join(root, folder));
  return [...own, process.env["PATH"]].join(delimiter);
}

/** @returns a program that the image needs and this machine lacks */
export const missingProgram = (image: ImageName): string | undefined =>
  imageOf(image)
    .host.programs.find((names) => !names.some((name) => isOnPath(name)))
    ?.join(" or ");

const isOnPath = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name)));

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
