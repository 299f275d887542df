import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { compilePackage } from "@parley/contract/compile-package";

export const packageDir = fileURLToPath(new URL("..", import.meta.url));
export const root = join(packageDir, "../..");
export const dist = join(packageDir, "dist");

const stamp = join(packageDir, "node_modules/.dist-stamp");
const lock = join(packageDir, "node_modules/.dist-lock");
const lockLifetimeMs = 60_000;

/**
 * Compiles the package into `dist/`, unless it is newer than the source. Test files run at the same time in separate
 * processes: one of them compiles, the others wait.
 */
export async function buildDist(): Promise<void> {
  for (; !isFresh(); await wait(20)) {
    if (!takeLock()) continue;
    try {
      if (isFresh()) return;
      compilePackage(packageDir, dist);
      writeFileSync(stamp, hashSource());
    } finally {
      rmSync(lock, { recursive: true });
    }
  }
}

const isFresh = (): boolean =>
  existsSync(join(dist, "index.js")) && existsSync(stamp) && readFileSync(stamp, "utf8") === hashSource();

function hashSource(): string {
  const sources = ["src", "../contract/src/generated"].flatMap((folder) =>
    readdirSync(join(packageDir, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => join(folder, path)),
  );
  const hash = createHash("sha256");
  for (const path of [...sources.toSorted(), "tsconfig.build.json", "package.json"]) {
    hash.update(path).update(readFileSync(join(packageDir, path)));
  }
  return hash.digest("hex");
}

function takeLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    // The process that holds the lock is still compiling, or was killed.
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > lockLifetimeMs) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
