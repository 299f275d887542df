import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { rolldown } from "rolldown";
import { assetFolder } from "./write-site.ts";

/** The files that pages load. Each has a hash of its content in its name, so browsers may keep it for good. */
export interface Assets {
  /** The content of each file, by its address. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  /** The address of each file, by its name in the sources. */
  readonly paths: ReadonlyMap<string, string>;
}

const source = join(import.meta.dirname, "..");

/** The style sheets, in the order in which they are joined. */
const styles = ["base", "layout", "parts", "stream", "search", "try"];

/** The address of the service worker of the demo. It has no hash, because browsers look for newer versions at one address. */
const demoWorkerPath = "/docs/demo-worker.js";

export async function buildAssets(): Promise<Assets> {
  const files = new Map<string, string | Buffer>();
  const paths = new Map<string, string>();
  const add = (name: string, content: string | Buffer): void => {
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
    const path = `${assetFolder}${name.replace(/(?=\.\w+$)/, `-${hash}`)}`;
    files.set(path, content);
    paths.set(name, path);
  };
  for (const folder of ["fonts", "images"]) {
    for (const name of readdirSync(join(source, folder))) {
      if (extname(name) !== ".txt") add(name, readFileSync(join(source, folder, name)));
    }
  }
  add("style.css", styleSheet(paths));
  for (const [name, path, code] of await bundleScripts()) {
    files.set(path, code);
    paths.set(name, path);
  }
  files.set(demoWorkerPath, await bundleDemoWorker());
  return { files, paths };
}

/** Joins the style sheets, without comments and indentation, and puts in the addresses of fonts. */
function styleSheet(paths: ReadonlyMap<string, string>): string {
  const joined = styles.map((name) => readFileSync(join(source, `styles/${name}.css`), "utf8")).join("");
  return joined
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "")
    .replaceAll(/url\("([^"]+)"\)/g, (_, name: string) => `url("${paths.get(name) ?? name}")`);
}

/** The options of every bundle. They name no file of settings, because an image is built without it. */
const options = { platform: "browser", tsconfig: false } as const;

/** Bundles each file of `src/browser/` that a page can load. The theme is a classic script, which blocks the drawing of the page. */
async function bundleScripts(): Promise<(readonly [name: string, path: string, code: string])[]> {
  const entries = readdirSync(join(source, "browser")).filter((name) => isEntry(name));
  const names = { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js", minify: true } as const;
  const modules = await rolldown({ ...options, input: entries.map((name) => join(source, "browser", name)) });
  const theme = await rolldown({ ...options, input: join(source, "browser/theme.ts") });
  const outputs = [
    ...(await modules.generate({ ...names, format: "esm" })).output,
    ...(await theme.generate({ ...names, format: "iife" })).output,
  ];
  await Promise.all([modules.close(), theme.close()]);
  return outputs.flatMap((part) =>
    part.type === "chunk" ? [[`${part.name}.js`, `${assetFolder}${part.fileName}`, part.code] as const] : [],
  );
}

async function bundleDemoWorker(): Promise<string> {
  const bundle = await rolldown({ ...options, input: join(source, "browser/demo-worker.ts") });
  const { output } = await bundle.generate({ format: "iife", minify: true });
  await bundle.close();
  return output[0].code;
}

/** The entries of the pages: `main` and every module whose name ends in `-page`. */
const isEntry = (name: string): boolean => name === "main.ts" || name.endsWith("-page.ts");
