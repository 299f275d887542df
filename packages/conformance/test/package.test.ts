import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compilePackage } from "@parley/contract/compile-package";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const packageDir = fileURLToPath(new URL("..", import.meta.url));

// Beside the package's own node_modules, so that its dependencies are found as they are after an installation.
let dist: string;
beforeAll(() => {
  dist = mkdtempSync(join(packageDir, "node_modules/.dist-"));
  compilePackage(packageDir, dist);
}, 120_000);
afterAll(() => rmSync(dist, { recursive: true, force: true }));

test("is compiled whole, with the contract in it, and runs from what is published", async () => {
  expect(existsSync(join(dist, "contract-package/generated/contract.json"))).toBe(true);
  expect(existsSync(join(dist, "index.d.ts"))).toBe(true);
  const { stdout } = await run(process.execPath, [join(dist, "cli/main.js"), "explain", "STRM-14"]);
  expect(stdout).toContain("`data: [DONE]`");
});

test("its manifest names what it runs and nothing of this repository", () => {
  const manifest = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as {
    readonly dependencies: object;
    readonly bin: object;
  };
  expect(manifest.bin).toEqual({ "parley-conformance": "./dist/cli/main.js" });
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@parley/"))).toEqual([]);
});
