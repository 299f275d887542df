import { freshBundle } from "../src/bundle/fresh-bundle.mjs";
import { writeBundle } from "../src/bundle/write-bundle.ts";

/** Writes the bundle if it is missing or old, as the launcher does before a start. */
export async function bundleServer(): Promise<void> {
  if (freshBundle() === undefined) await writeBundle();
}
