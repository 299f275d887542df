import { freshBundle } from "../src/bundle/fresh-bundle.mjs";
import { writeBundle } from "../src/bundle/write-bundle.ts";

/** What the launcher does before a start. */
export async function bundleServer(): Promise<void> {
  if (freshBundle() === undefined) await writeBundle();
}
