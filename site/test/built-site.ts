import { buildSite } from "../src/build/build-site.ts";
import type { SiteFiles } from "../src/build/build-site.ts";
import { readSources } from "../src/sources.ts";

export const sources = await readSources();

/** The site as the build makes it now. */
export const site: SiteFiles = await buildSite(sources);

export const textAt = (path: string): string => String(site.get(path) ?? "");

/** The addresses of all pages. */
export const pagePaths: readonly string[] = [...site.keys()].filter((path) => site.has(`${path}.md`));
