import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isContractBrand, rename } from "./build/brand.ts";
import type { Brand } from "./build/brand.ts";
import type { SiteFiles } from "./build/build-site.ts";
import { writeSite } from "./build/write-site.ts";
import type { SiteManifest } from "./build/write-site.ts";

/**
 * Prints the folder of the built site. Builds the site first if its sources have changed since it was built.
 *
 *     node site/src/main.ts [--vendor acme --vendor-label "Acme Labs" --out FOLDER]
 *
 * With another vendor, FOLDER receives a copy of the site with that vendor's names. FOLDER also receives the site if
 * `site/dist` cannot be written.
 */

const root = join(import.meta.dirname, "../..");
const dist = join(import.meta.dirname, "../dist");
/** The name of the folder in `dist` that was built last. */
const currentFile = join(dist, "current");

const { values } = parseArgs({
  options: {
    vendor: { type: "string", default: "vendor" },
    "vendor-label": { type: "string", default: "Vendor" },
    out: { type: "string" },
  },
});

/** Returns the folder of a site that fits its sources. */
async function builtSite(out: string | undefined): Promise<string> {
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
  const files = await buildSite(readSources());
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

/** A day in milliseconds. A running server may still serve a site that was replaced meanwhile. */
const keptMs = 24 * 60 * 60 * 1000;

function deleteOld(stamp: string): void {
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const path = join(dist, entry.name);
    if (entry.isDirectory() && entry.name !== stamp && statSync(path).mtimeMs < Date.now() - keptMs) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Returns the files of a built site with the names of another vendor. */
function brandFiles(folder: string, brand: Brand): SiteFiles {
  // `writeSite` has written this file.
  const manifest = JSON.parse(readFileSync(join(folder, "site.json"), "utf8")) as SiteManifest;
  return new Map(
    Object.entries(manifest).map(([path, { file, isCompressed }]) => {
      const content = readFileSync(join(folder, file));
      return [path, isCompressed ? rename(content.toString("utf8"), brand) : content];
    }),
  );
}

const brand: Brand = { vendor: values.vendor, vendorLabel: values["vendor-label"] };
const built = await builtSite(values.out);
if (isContractBrand(brand)) process.stdout.write(`${built}\n`);
else {
  if (values.out === undefined) throw new Error("Another vendor's copy needs --out FOLDER.");
  const branded = join(values.out, "branded");
  writeSite(brandFiles(built, brand), branded);
  process.stdout.write(`${branded}\n`);
}
