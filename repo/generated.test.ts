import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generate, root } from "./generate.ts";

/** Generated files are committed, and must equal the files that `pnpm generate` would write now. */
const files = [...(await generate())];

test.each(files)("%s is what `pnpm generate` writes", async (path, text) => {
  const committed = await readFile(join(root, path), "utf8").catch(() => "(missing)");
  // Compared as one boolean, because a diff of two megabytes would flood the report.
  expect(committed === text, "run: npx -y pnpm@12.21.0 generate").toBe(true);
});
