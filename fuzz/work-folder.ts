import { fileURLToPath } from "node:url";

/** Not in the tree: environments, records and logs. */
export const workFolder = fileURLToPath(new URL("../.parley/fuzz", import.meta.url));
