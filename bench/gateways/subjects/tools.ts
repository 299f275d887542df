import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Folder into which `--install` installs the other subjects. */
const toolsFolder = join(import.meta.dirname, "../../../.parley/bench/tools");

export const toolPath = (...parts: readonly string[]): string => join(toolsFolder, ...parts);

export const missingTool = (path: string, what: string): string | undefined =>
  existsSync(path) ? undefined : `${what} is not installed: \`--install\` does it`;

/** Installs a Python package into its own virtual environment, because the dependencies of the subjects conflict. */
export function installPython(name: string, requirement: string): void {
  mkdirSync(toolsFolder, { recursive: true });
  if (!existsSync(toolPath(name, "bin/python"))) run("python3", ["-m", "venv", toolPath(name)]);
  run(toolPath(name, "bin/python"), ["-m", "pip", "install", "--quiet", requirement]);
}

export function installNode(name: string, requirement: string): void {
  mkdirSync(toolPath(name), { recursive: true });
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", toolPath(name), requirement]);
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}
