import { join } from "node:path";

/** Returns the path of the database of a data folder. It contains the keys and the ledger. */
export const databaseFile = (dataDir: string): string => join(dataDir, "parley.db");
