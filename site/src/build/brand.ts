/** The vendor's names: the prefix of its model ids, and the label in front of their display names. */
export interface Brand {
  readonly vendor: string;
  readonly vendorLabel: string;
}

export const contractBrand: Brand = { vendor: "vendor", vendorLabel: "Vendor" };

/** Checks whether the pages need no other names than those of the contract. */
export const isContractBrand = ({ vendor, vendorLabel }: Brand): boolean =>
  vendor === contractBrand.vendor && vendorLabel === contractBrand.vendorLabel;

/** Replaces the contract's vendor in a file, so its examples name the models of this server. */
export function rename(text: string, { vendor, vendorLabel }: Brand): string {
  const renamed = text
    .replaceAll(/\bvendor(?=(\\?\/|%2F)model-)/g, vendor)
    .replaceAll(/(owned_by(?:\\?"|&quot;)?(?:<[^>]+>)*: ?(?:<[^>]+>)*(?:\\?"|&quot;)?)vendor\b/g, `$1${vendor}`);
  // Other characters would need a different escape in each file format.
  return /^[\w .-]+$/.test(vendorLabel) ? renamed.replaceAll(/\bVendor(?=: Model 1)/g, vendorLabel) : renamed;
}
