import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { SiteFiles } from "./build-site.ts";

/** The answer to a path: its file below the folder of the site, and its headers. */
export interface SiteEntry {
  readonly file: string;
  readonly type: string;
  /** Quoted, as in the header. */
  readonly etag: string;
  /** True if the content at this address never changes. */
  readonly isImmutable?: true;
  /** Present if the files `file.br` and `file.gz` exist. */
  readonly isCompressed?: true;
  /** The title of a page, as HTML, without the name of the site. */
  readonly title?: string;
  /** The bytes of the uncompressed file. */
  readonly bytes: number;
}

/** The content of `site.json`: all entries by their addresses, without the host. */
export type SiteManifest = Readonly<Record<string, SiteEntry>>;

/** The addresses of files whose names contain a hash of their content begin so. */
export const assetFolder = "/docs/_/";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".yaml": "application/yaml; charset=utf-8",
  ".http": "text/plain; charset=utf-8",
  ".toml": "text/plain; charset=utf-8",
  ...Object.fromEntries([".sh", ".ts", ".py", ".go", ".java"].map((end) => [end, "text/plain; charset=utf-8"])),
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

const isBinary = (path: string): boolean => /\.(png|woff2)$/.test(path);
const isPage = (path: string): boolean => types[extname(path)] === undefined;

/**
 * Writes the files of a site into a folder, each also compressed, and the manifest `site.json`.
 * @param others entries of the manifest for files outside of the folder
 */
export function writeSite(files: SiteFiles, folder: string, others: SiteManifest = {}): void {
  const manifest: Record<string, SiteEntry> = { ...others };
  for (const [path, content] of files) {
    const file = `${path.slice(1)}${isPage(path) ? ".html" : ""}`;
    const target = join(folder, file);
    const bytes = Buffer.from(content);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    if (!isBinary(path)) compress(bytes, target);
    const title = isPage(path) ? titleOf(String(content)) : undefined;
    manifest[path] = {
      file,
      type: types[extname(file)] ?? "application/octet-stream",
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 16)}"`,
      ...(path.startsWith(assetFolder) && { isImmutable: true as const }),
      ...(!isBinary(path) && { isCompressed: true as const }),
      ...(title !== undefined && { title }),
      bytes: bytes.length,
    };
  }
  writeFileSync(join(folder, "site.json"), JSON.stringify(manifest));
}

const titleOf = (html: string): string | undefined => /<title>(.*?)(?: · Parley)?<\/title>/.exec(html)?.[1];

function compress(bytes: Buffer, target: string): void {
  // Level 5 compresses a usual page in half a millisecond. The few large files are worth ten times that.
  const quality = bytes.length > 100_000 ? 9 : 5;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${target}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${target}.gz`, gzipSync(bytes, { level: 6 }));
}
