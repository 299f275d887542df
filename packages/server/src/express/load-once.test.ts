import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { loadOnce } from "./load-once.ts";

test("a failed load is repeated at the next use, and a successful one is not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-load-"));
  try {
    const file = join(folder, "late.mjs");
    let tries = 0;
    const get = loadOnce(async () => {
      tries += 1;
      return (await import(/* @vite-ignore */ `${pathToFileURL(file).href}?${tries}`)) as { readonly value: number };
    });
    const failed = await Promise.allSettled([get(), get()]);
    expect([failed.map(({ status }) => status), tries]).toEqual([["rejected", "rejected"], 1]);
    writeFileSync(file, "export const value = 7;");
    expect([(await get()).value, (await get()).value, tries]).toEqual([7, 7, 2]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
