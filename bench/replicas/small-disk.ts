import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A small disk cannot be mounted here. */
export class SmallDiskError extends Error {
  override readonly name = "SmallDiskError";
}

/** A small disk that can be filled: a file system in memory, which only root can mount. */
export class SmallDisk implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-disk-"));
  readonly #ballast = join(this.folder, "ballast");
  #isMounted = false;

  /** @throws {SmallDiskError} if it cannot be mounted here */
  constructor(megabytes: number) {
    const args = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.folder];
    const { status, stderr, error } = spawnSync("mount", args, { encoding: "utf8" });
    this.#isMounted = status === 0;
    if (!this.#isMounted) {
      rmdirSync(this.folder);
      throw new SmallDiskError(`a small disk cannot be mounted: ${error?.message ?? stderr.trim()}`);
    }
    chmodSync(this.folder, 0o755);
  }

  /** Writes a file that takes all free space. */
  fill(): void {
    const file = openSync(this.#ballast, "a");
    try {
      for (const size of [2 ** 20, 4096]) while (writes(file, size));
    } finally {
      closeSync(file);
    }
  }

  /** Frees the space again. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    if (!this.#isMounted) return;
    this.#isMounted = false;
    // Lazy: a process that has just ended may still hold it for a moment.
    spawnSync("umount", ["-l", this.folder]);
    rmdirSync(this.folder);
  }
}

/** Returns false if the disk is full. */
function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size;
  } catch {
    return false;
  }
}
