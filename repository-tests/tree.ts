import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Every file of the tree that git knows or would add, with forward slashes; deleted ones are left out. */
export const files: readonly string[] = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard"],
  { cwd: root, encoding: "utf8" },
)
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

export const read = (path: string): string => readFileSync(join(root, path), "utf8");
