// Plain JavaScript for any version of Node: the launcher and `cli/main.mjs` read it before any TypeScript.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const bundleFolder = fileURLToPath(new URL("../../dist", import.meta.url));
export const manifestFile = join(bundleFolder, "bundle.json");

export function freshBundle() {
  try {
    const { parts, writtenSeconds, sources } = JSON.parse(readFileSync(manifestFile, "utf8"));
    const paths = parts.map((name) => join(bundleFolder, name));
    const isSame = ([path, seconds, size]) => {
      const now = statSync(join(bundleFolder, path));
      return secondsOf(now.mtimeMs) === seconds && now.size === size && seconds < writtenSeconds;
    };
    return sources.every(isSame) && paths.every((path) => existsSync(path)) ? paths[0] : undefined;
  } catch {
    return undefined;
  }
}

export const secondsOf = (ms) => Math.floor(ms / 1000);
