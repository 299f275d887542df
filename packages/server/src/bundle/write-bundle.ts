import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import type { Plugin } from "rolldown";
import { bundleFolder, manifestFile, secondsOf } from "./fresh-bundle.mjs";
import type { Manifest } from "./fresh-bundle.mjs";

const program = join(import.meta.dirname, "../cli/program.ts");
const packages = join(import.meta.dirname, "../../..");
const lockFile = join(packages, "../pnpm-lock.yaml");

/** It loads llama.cpp, whose library looks for its binaries beside itself. */
const leftOut = "@parley/inference/examine-model";

/** The files of an older bundle are kept for a week, because a server that was started with it may still load some of them. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

const fromBundle = (path: string): string => relative(bundleFolder, path).replaceAll(sep, "/");
const isOurs = (path: string): boolean => path.startsWith(packages) && !path.includes("node_modules");

/** A source of ours finds the files beside it where it lies itself. */
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
 * Writes the server and its libraries into a few files. Node takes 0.3 ms for each file that it loads, and the sources are hundreds.
 * Threads and the processes of engines are still started from the sources.
 */
export async function writeBundle(): Promise<void> {
  const writtenSeconds = secondsOf(Date.now());
  const bundle = await rolldown({
    input: program,
    platform: "node",
    plugins: [sourcePlaces],
    // The CommonJS of jsonc-parser loads its parts in a way that no bundler follows.
    resolve: { mainFields: ["module", "main"] },
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js" });
  const sources = [...(await bundle.watchFiles).filter(isOurs), lockFile];
  await bundle.close();

  mkdirSync(bundleFolder, { recursive: true });
  for (const part of output) {
    const path = join(bundleFolder, part.fileName);
    if (!existsSync(path)) write(path, part.type === "chunk" ? part.code : part.source);
  }
  const manifest: Manifest = {
    entry: output[0].fileName,
    writtenSeconds,
    sources: sources.map((path) => {
      const { mtimeMs, size } = statSync(path);
      return [fromBundle(path), secondsOf(mtimeMs), size];
    }),
  };
  // The manifest comes last, so that whoever reads it finds every file.
  write(manifestFile, JSON.stringify(manifest));
  deleteOld(new Set([manifestFile, ...output.map(({ fileName }) => join(bundleFolder, fileName))]));
}

/** Nobody reads half a file, also if two processes write at once. */
function write(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}

function deleteOld(used: ReadonlySet<string>): void {
  const paths = readdirSync(bundleFolder).map((name) => join(bundleFolder, name));
  for (const path of paths.filter((other) => !used.has(other))) {
    if (statSync(path).mtimeMs < Date.now() - keptMs) rmSync(path);
  }
}
