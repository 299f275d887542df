import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the generated pages and documents. They use the vendor name of the contract. */
export const siteFolder = fileURLToPath(new URL("../../../../docs/site", import.meta.url));

/** False in a checkout whose pages have not been built. */
export const hasDocs = (): boolean => existsSync(join(siteFolder, "index.html"));

/** The vendor's names: the prefix of its model ids, and the label in front of their display names. */
export interface Brand {
  readonly vendor: string;
  readonly vendorLabel: string;
}

const contractBrand: Brand = { vendor: "vendor", vendorLabel: "Vendor" };

/**
 * Returns the folder to serve. Its examples name the models of this server, so they work when they are pasted.
 * @param runFolder an existing folder that receives a copy of the pages if the vendor's names differ from the contract's
 */
export function brandSite(brand: Brand, runFolder: string): string {
  if (brand.vendor === contractBrand.vendor && brand.vendorLabel === contractBrand.vendorLabel) return siteFolder;
  const branded = join(runFolder, "site");
  cpSync(siteFolder, branded, { recursive: true });
  for (const entry of readdirSync(branded, { recursive: true, withFileTypes: true })) {
    // The script that renders the reference does not contain the vendor's name.
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
  // Other characters would need a different escape in each file format.
  return /^[\w .-]+$/.test(vendorLabel) ? renamed.replaceAll(/\bVendor(?=: Model 1)/g, vendorLabel) : renamed;
}
