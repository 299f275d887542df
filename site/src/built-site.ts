import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSite } from "./build/write-site.ts";

const root = join(import.meta.dirname, "../..");
const dist = join(import.meta.dirname, "../dist");
/** The name of the folder in `dist` that was built last. */
const currentFile = join(dist, "current");

/** A day in milliseconds. A running server may still serve a site that was replaced meanwhile. */
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Returns the folder of a site that fits its sources. Builds the site first if its sources have changed since it was built.
 * The files of the contract, such as `openapi.json`, are at the top of the folder.
 * @param out a folder that receives the site if `site/dist` cannot be written
 */
export async function builtSite(out?: string): Promise<string> {
  const stamp = await stampOfSources();
  const current = existsSync(currentFile) ? join(dist, readFileSync(currentFile, "utf8")) : undefined;
  // An image has a built site, and no sources.
  if (stamp === undefined) {
    if (current === undefined) throw new Error("There is neither a built site nor its sources.");
    return current;
  }
  const wanted = join(dist, stamp);
  if (existsSync(join(wanted, "site.json"))) return wanted;
  const [{ buildSite }, { readSources }] = await Promise.all([import("./build/build-site.ts"), import("./sources.ts")]);
  const files = await buildSite(await readSources());
  const target = canWrite() || out === undefined ? wanted : join(out, "built");
  const unfinished = `${target}.${process.pid}`;
  writeSite(files, unfinished);
  try {
    renameSync(unfinished, target);
  } catch (error) {
    // Another process has built the same site meanwhile.
    if (!existsSync(join(target, "site.json"))) throw error;
    rmSync(unfinished, { recursive: true });
  }
  if (target === wanted) {
    writeFileSync(currentFile, stamp);
    deleteOld(stamp);
  }
  return target;
}

/** Returns a hash of everything that the site is made of, or undefined where the sources are not there. */
async function stampOfSources(): Promise<string | undefined> {
  if (!existsSync(join(root, "docs/guides"))) return undefined;
  const { sourcePaths } = await import("./sources.ts");
  const hash = createHash("sha256");
  for (const path of sourcePaths.flatMap((one) => filesBelow(one))) {
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex").slice(0, 16);
}

function filesBelow(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

function canWrite(): boolean {
  try {
    mkdirSync(dist, { recursive: true });
    writeFileSync(join(dist, `probe.${process.pid}`), "");
    rmSync(join(dist, `probe.${process.pid}`));
    return true;
  } catch {
    return false;
  }
}

function deleteOld(stamp: string): void {
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const path = join(dist, entry.name);
    if (entry.isDirectory() && entry.name !== stamp && statSync(path).mtimeMs < Date.now() - keptMs) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
