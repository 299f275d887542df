import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Schemathesis } from "./run.ts";
import { workFolder } from "./work-folder.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL(".", import.meta.url));

/** The sentence says what is missing; the fuzzer did not run, which is neither a success nor a failure of the server. */
export class NotThere extends Error {}

const isRecent = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/**
 * Schemathesis in an environment of its own, installed once for every lock file. A run that was cut off goes on with what
 * is there. @returns its program @throws {NotThere}
 */
export async function prepareSchemathesis(): Promise<Schemathesis> {
  const lock = join(folder, "requirements.lock");
  const digest = createHash("sha256").update(readFileSync(lock)).digest("hex").slice(0, 12);
  const environment = join(workFolder, `venv-${digest}`);
  const stamp = join(environment, "installed");
  const program = join(environment, "bin/schemathesis");
  if (existsSync(stamp)) return [program];
  const python = await findPython();
  process.stdout.write("Installing Schemathesis (once).\n");
  await run(python, ["-m", "venv", environment]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
  await run(join(environment, "bin/python"), [...pip, "--require-hashes", "--requirement", lock]).catch(explain);
  writeFileSync(stamp, digest);
  return [program];
}

/** With Python there, a failed installation is a failure: nothing says that the next one would succeed. */
function explain(error: { stderr?: string }): never {
  const [reason = ""] = (error.stderr ?? "").trim().split("\n").slice(-1);
  throw new Error(`Schemathesis could not be installed from the Python package index: ${reason}`, { cause: error });
}

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
