import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The pages and documents as they are generated, with the vendor's name of the contract. */
export const siteFolder = fileURLToPath(new URL("../../../../docs/site", import.meta.url));

/** False in a checkout whose pages have not been built. */
export const hasDocs = (): boolean => existsSync(join(siteFolder, "index.html"));

/** What a vendor calls itself: the prefix of its model ids and the label of their names. */
export interface Brand {
  readonly vendor: string;
  readonly vendorLabel: string;
}

const contractBrand: Brand = { vendor: "vendor", vendorLabel: "Vendor" };

/**
 * The folder to serve: examples name the models that this server has, so that they work when they are pasted.
 * @param runFolder an existing folder, for a copy with other names
 */
export function brandSite(brand: Brand, runFolder: string): string {
  if (brand.vendor === contractBrand.vendor && brand.vendorLabel === contractBrand.vendorLabel) return siteFolder;
  const branded = join(runFolder, "site");
  cpSync(siteFolder, branded, { recursive: true });
  for (const entry of readdirSync(branded, { recursive: true, withFileTypes: true })) {
    // The program that draws the reference names nobody.
    if (!entry.isFile() || entry.name.endsWith(".js")) continue;
    const file = join(entry.parentPath, entry.name);
    writeFileSync(file, rename(readFileSync(file, "utf8"), brand));
  }
  return branded;
}

function rename(text: string, { vendor, vendorLabel }: Brand): string {
  const renamed = text
    .replaceAll(/\bvendor(?=(\\?\/|%2F)model-)/g, vendor)
    .replaceAll(/(owned_by(?:\\?"|&quot;)?: ?(?:\\?"|&quot;)?)vendor\b/g, `$1${vendor}`);
  // Any other character would have to be escaped differently in each format.
  return /^[\w .-]+$/.test(vendorLabel) ? renamed.replaceAll(/\bVendor(?=: Model 1)/g, vendorLabel) : renamed;
}
