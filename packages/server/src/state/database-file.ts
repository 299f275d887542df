import { join } from "node:path";

/** Keys and ledger of a data folder. */
export const databaseFile = (dataDir: string): string => join(dataDir, "parley.db");
