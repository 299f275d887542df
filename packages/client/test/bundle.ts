import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { buildDist, dist, packageDir } from "./build-dist.ts";

/** Bundles all exports of the package and openapi-fetch into one minified program for any runtime. */
export async function bundlePackage(): Promise<string> {
  await buildDist();
  return await bundle(join(dist, "index.js"), "es");
}

/** Bundles the package and `probe.mjs` into a script that sets the global `program`. */
export async function bundleProbe(format: "es" | "iife"): Promise<string> {
  await buildDist();
  const folder = mkdtempSync(join(tmpdir(), "parley-bundle-"));
  try {
    const entry = join(folder, "entry.js");
    const probe = join(packageDir, "test/probe.mjs");
    const lines = [
      `import * as client from ${JSON.stringify(join(dist, "index.js"))};`,
      `import { probe } from ${JSON.stringify(probe)};`,
      `export const run = (baseURL, apiKey) => probe(client, baseURL, apiKey);`,
    ];
    writeFileSync(entry, lines.join("\n"));
    return await bundle(entry, format);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundle(input: string, format: "es" | "iife"): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    root: packageDir,
    build: {
      write: false,
      target: "es2022",
      modulePreload: false,
      rolldownOptions: {
        input,
        platform: "neutral",
        preserveEntrySignatures: "strict",
        output: { format, name: "program", minify: true },
      },
    },
  });
  if (Array.isArray(result) || !("output" in result)) throw new Error("one bundle was asked for");
  const [{ code }, ...more] = result.output;
  if (more.length > 0) throw new Error("the bundle should be one file");
  return code;
}
