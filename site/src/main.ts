import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { isContractBrand, rename } from "./build/brand.ts";
import type { Brand } from "./build/brand.ts";
import type { SiteFiles } from "./build/build-site.ts";
import { writeSite } from "./build/write-site.ts";
import type { SiteEntry, SiteManifest } from "./build/write-site.ts";
import { builtSite } from "./built-site.ts";

/**
 * Prints the folder of the built site. Builds the site first if its sources have changed since it was built.
 *
 *     node site/src/main.ts [--vendor acme --vendor-label "Acme Labs" --out FOLDER]
 *
 * With another vendor, FOLDER receives a copy of the site with that vendor's names. FOLDER also receives the site if
 * `site/dist` cannot be written.
 */

const { values } = parseArgs({
  options: {
    vendor: { type: "string", default: "vendor" },
    "vendor-label": { type: "string", default: "Vendor" },
    out: { type: "string" },
  },
});

/**
 * Writes the files that contain a name of the vendor into a folder, with the names of another vendor. The entries of the
 * other files lead to the built site.
 */
function writeBranded(built: string, folder: string, brand: Brand): void {
  // `writeSite` has written this file.
  const manifest = JSON.parse(readFileSync(join(built, "site.json"), "utf8")) as SiteManifest;
  const changed: SiteFiles = new Map();
  const kept: Record<string, SiteEntry> = {};
  for (const [path, entry] of Object.entries(manifest)) {
    const file = join(built, entry.file);
    const text = entry.isCompressed ? readFileSync(file, "utf8") : "";
    const renamed = rename(text, brand);
    if (renamed === text) kept[path] = { ...entry, file: relative(folder, file) };
    else changed.set(path, renamed);
  }
  writeSite(changed, folder, kept);
}

const brand: Brand = { vendor: values.vendor, vendorLabel: values["vendor-label"] };
const built = await builtSite(values.out);
if (isContractBrand(brand)) process.stdout.write(`${built}\n`);
else {
  if (values.out === undefined) throw new Error("Another vendor's copy needs --out FOLDER.");
  const branded = join(values.out, "branded");
  writeBranded(built, branded, brand);
  process.stdout.write(`${branded}\n`);
}
