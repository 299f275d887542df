import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** This machine lacks a program that a command needs. The message names it. Callers report it as "did not run", not as a failure. */
export class MissingProgramError extends Error {
  override readonly name = "MissingProgramError";
}

export interface EnvironmentOptions {
  /** Name of the installed packages in the output. */
  readonly title: string;
  /** Folder of the environments. Each state of the lock files has its own. */
  readonly folder: string;
  /** Files of pinned packages with their hashes. */
  readonly locks: readonly string[];
}

/**
 * Installs a Python environment with the packages of the lock files, once. An interrupted installation is completed by the
 * next call. @returns its folder of programs @throws {MissingProgramError} if there is no suitable Python
 */
export async function prepareEnvironment({ title, folder, locks }: EnvironmentOptions): Promise<string> {
  const digest = createHash("sha256");
  for (const lock of locks) digest.update(readFileSync(lock));
  const environment = join(folder, `venv-${digest.digest("hex").slice(0, 12)}`);
  const stamp = join(environment, "installed");
  const programs = join(environment, "bin");
  if (existsSync(stamp)) return programs;
  const python = await findPython();
  process.stdout.write(`Installing ${title} (once).\n`);
  await run(python, ["-m", "venv", environment]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
  const pinned = ["--require-hashes", ...locks.flatMap((lock) => ["--requirement", lock])];
  await run(join(programs, "python"), [...pip, ...pinned]).catch((error: { stderr?: string }) =>
    failWithOutput(title, error),
  );
  writeFileSync(stamp, "");
  return programs;
}

/** Throws the error of a failed installation. If Python exists, that is a real failure, because the next try may fail as well. */
function failWithOutput(title: string, error: { stderr?: string }): never {
  const [reason = ""] = (error.stderr ?? "").trim().split("\n").slice(-1);
  throw new Error(`${title} could not be installed from the Python package index: ${reason}`, { cause: error });
}

const isRecent = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

async function findPython(): Promise<string> {
  for (const candidate of ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"]) {
    const isThere = await run(candidate, ["-c", isRecent]).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  throw new MissingProgramError("there is no Python 3.11 or newer (with venv and ensurepip) on this machine");
}
