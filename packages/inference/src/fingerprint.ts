import { createHash } from "node:crypto";

/** Returns the `system_fingerprint` of everything that can change the text: `fp_` and 16 hexadecimal digits. */
export const fingerprint = (parts: readonly string[]): string =>
  `fp_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16)}`;
