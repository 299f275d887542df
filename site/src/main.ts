import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isContractBrand, rename } from "./build/brand.ts";
import type { Brand } from "./build/brand.ts";
import type { SiteFiles } from "./build/build-site.ts";
import { writeSite } from "./build/write-site.ts";
import type { SiteManifest } from "./build/write-site.ts";
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
