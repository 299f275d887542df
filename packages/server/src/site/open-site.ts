import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The program that builds the docs portal, or finds it built, and prints its folder. */
const program = fileURLToPath(new URL("../../../../site/src/main.ts", import.meta.url));

/** False where the server was installed without the portal. */
export const hasDocs = (): boolean => existsSync(program);

/** The vendor's names: the prefix of its model ids, and the label in front of their display names. */
export interface Brand {
  readonly vendor: string;
  readonly vendorLabel: string;
}

/** The answer to a path. `site/src/build/write-site.ts` writes it. */
export interface SiteEntry {
  /** The file, relative to the folder of the site. */
  readonly file: string;
  readonly type: string;
  readonly etag: string;
  readonly isImmutable?: true;
  /** The files with `.br` and `.gz` at their end exist, too. */
  readonly isCompressed?: true;
  /** The title of a page, as HTML. */
  readonly title?: string;
}

/** A built site. */
export interface Site {
  readonly folder: string;
  /** The entries by their paths. */
  readonly entries: ReadonlyMap<string, SiteEntry>;
}

const run = promisify(execFile);

/**
 * Builds the site if it is not built yet, in a process of its own, so that answers do not wait for it.
 * @param runFolder an existing folder that receives a copy of the site if the vendor's names differ from the contract's
 */
export async function openSite({ vendor, vendorLabel }: Brand, runFolder: string, signal: AbortSignal): Promise<Site> {
  const brand = ["--vendor", vendor, "--vendor-label", vendorLabel];
  // Nothing else of the environment, because it holds the operator's secrets.
  const { PATH, HOME, TMPDIR } = process.env;
  const args = [program, ...brand, "--out", join(runFolder, "site")];
  const { stdout } = await run(process.execPath, args, { signal, env: { PATH, HOME, TMPDIR } });
  const folder = stdout.trim();
  // The program has written this file.
  const manifest = JSON.parse(await readFile(join(folder, "site.json"), "utf8")) as Record<string, SiteEntry>;
  return { folder, entries: new Map(Object.entries(manifest)) };
}
