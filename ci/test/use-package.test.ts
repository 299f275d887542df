import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { usePackage } from "../use-package.ts";

/** A package with faults that only its users meet. The step `packages:fresh-clone` uses the sound ones. */

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-use-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = {
  name: "faulty",
  version: "1.0.0",
  type: "module",
  exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
};

/** @returns the faults without the output of the tools */
function faultsOf(name: string, files: Readonly<Record<string, string>>): string[] {
  const staged = join(folder, name);
  mkdirSync(staged);
  for (const [file, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files }))
    writeFileSync(join(staged, file), text);
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts"], { cwd: staged });
  const faults = usePackage(join(staged, "faulty-1.0.0.tgz"), manifest, join(folder, `${name}-projects`));
  return faults.map(
    (fault) => /installed with (\w+): .*?(main\.m[jt]s) failed/.exec(fault)?.slice(1).join(" ") ?? fault,
  );
}

test("a package without types that imports what it does not depend on fails everywhere", () => {
  const faults = faultsOf("faulty", { "index.js": 'import "leven";\nexport const answer = 42;\n' });
  const everywhere = ["main.mjs", "main.mts", "main.mts"];
  expect(faults).toEqual([
    ...everywhere.map((file) => `npm ${file}`),
    ...everywhere.map((file) => `pnpm ${file}`),
    ...["main.mjs", ...everywhere].map((file) => `bun ${file}`),
  ]);
}, 120_000);
