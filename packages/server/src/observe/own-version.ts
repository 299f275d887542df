import { readFileSync } from "node:fs";

// The bundle is as deep below the package as this file.
const packageFile = new URL("../../package.json", import.meta.url);

/** The version of this package. */
export const { version: ownVersion } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string }; // our own file
