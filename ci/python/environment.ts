import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a command needs is not on this machine. The sentence says what is missing; nothing has failed. */
export class NotThere extends Error {}

export interface EnvironmentOptions {
  /** What is installed, for the reader of the output. */
  readonly title: string;
  /** Where environments are kept: one for every state of the locks. */
  readonly folder: string;
  /** Files of pinned packages with their hashes. */
  readonly locks: readonly string[];
}

/**
 * A Python environment with the packages of the locks, installed once. An installation that was interrupted is completed
 * by the next call. @returns its folder of programs @throws {NotThere}
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
  await run(join(programs, "python"), [...pip, ...pinned]).catch((error: { stderr?: string }) => explain(title, error));
  writeFileSync(stamp, "");
  return programs;
}

/** With Python there, a failed installation is a failure: nothing says that the next one would succeed. */
function explain(title: string, error: { stderr?: string }): never {
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
  throw new NotThere("there is no Python 3.11 or newer (with venv and ensurepip) on this machine");
}
