import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import type { Plugin } from "rolldown";
import { bundleFolder, manifestFile, secondsOf } from "./fresh-bundle.mjs";
import type { Manifest } from "./fresh-bundle.mjs";

const program = join(import.meta.dirname, "../cli/program.ts");
const packages = join(import.meta.dirname, "../../..");
const lockFile = join(packages, "../pnpm-lock.yaml");

/** This module loads llama.cpp, which cannot be bundled: the library looks for its binaries relative to its own files. */
const leftOut = "@parley/inference/examine-model";

/** Milliseconds for which a replaced bundle is kept (a week), because a running server may still load files of it. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

const fromBundle = (path: string): string => relative(bundleFolder, path).replaceAll(sep, "/");
const isOurs = (path: string): boolean =>
  path.startsWith(packages) && !relative(packages, path).includes("node_modules");

/**
 * Replaces `import.meta.url` by the URL of the source file. Our sources find files relative to it, and the bundle is in
 * another folder.
 */
const sourcePlaces: Plugin = {
  name: "source-places",
  async resolveId(name, importer) {
    const found = name === leftOut ? await this.resolve(name, importer, { skipSelf: true }) : undefined;
    return found && { id: fromBundle(found.id), external: "relative" };
  },
  transform: (code, id) =>
    isOurs(id) ? code.replaceAll("import.meta.url", `new URL("${fromBundle(id)}", import.meta.url).href`) : undefined,
};

/**
 * Bundles the server and its libraries into a few files, because Node takes 0.3 ms to load each of hundreds of sources.
 * Threads and engine processes still start from the sources.
 */
export async function writeBundle(): Promise<void> {
  // A build that should give the same files each time sets its time.
  const writtenSeconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? secondsOf(Date.now()));
  const bundle = await rolldown({
    input: program,
    platform: "node",
    plugins: [sourcePlaces],
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js" });
  const sources = [...(await bundle.watchFiles).filter(isOurs).toSorted(), lockFile];
  await bundle.close();

  mkdirSync(bundleFolder, { recursive: true });
  const replaced = partsOfBundle();
  for (const part of output) {
    const path = join(bundleFolder, part.fileName);
    if (!existsSync(path)) write(path, part.type === "chunk" ? part.code : part.source);
  }
  const manifest: Manifest = {
    parts: output.map(({ fileName }) => fileName),
    writtenSeconds,
    sources: sources.map((path) => {
      const { mtimeMs, size } = statSync(path);
      return [fromBundle(path), secondsOf(mtimeMs), size];
    }),
  };
  // The manifest is written last, so all files that it lists exist.
  write(manifestFile, JSON.stringify(manifest));
  deleteOld(manifest.parts, replaced);
}

/** Writes a file atomically, even if two processes write at once. */
function write(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}

/** @returns the files of the existing bundle; none if there is none, or if another version of the server wrote it */
function partsOfBundle(): readonly string[] {
  try {
    return (JSON.parse(readFileSync(manifestFile, "utf8")) as Partial<Manifest>).parts ?? [];
  } catch {
    return [];
  }
}

/** Sets the time of the files that were just replaced to now, and deletes those that were replaced more than a week ago. */
function deleteOld(used: readonly string[], replaced: readonly string[]): void {
  const kept = new Set([...used, basename(manifestFile)]);
  for (const name of readdirSync(bundleFolder).filter((other) => !kept.has(other))) {
    const path = join(bundleFolder, name);
    if (replaced.includes(name)) utimesSync(path, new Date(), new Date());
    else if (statSync(path).mtimeMs < Date.now() - keptMs) rmSync(path);
  }
}
