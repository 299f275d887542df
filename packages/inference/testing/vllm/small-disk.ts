import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real but small file system in memory. Needs permission to mount. */
export interface SmallDisk {
  readonly place: string;
  /** Writes until nothing more fits. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Returns undefined and prints a note if this user may not mount. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "parley-disk-"));
  const place = join(folder, "disk");
  mkdirSync(place);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", place], { stdio: "pipe" });
  } catch {
    console.warn("Full disks were not tried: this user may not mount one.");
    return undefined;
  }
  const filling = join(place, "filling");
  return {
    place,
    fill: () => fill(filling),
    free: () => rmSync(filling),
    unmount: () => {
      execFileSync("umount", ["--lazy", place]);
      rmSync(folder, { recursive: true });
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (let size = 65_536; size > 0; size = Math.floor(size / 2)) writeAll(file, Buffer.alloc(size));
  closeSync(file);
}

function writeAll(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch {
    // The disk is full for pieces of this size.
  }
}
