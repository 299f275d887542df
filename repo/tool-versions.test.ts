import { expect, test } from "vitest";
import { pnpmVersion } from "../ci/pnpm.ts";
import { files, read } from "./tree.ts";

test("every page and script names the pnpm of package.json", () => {
  const named = files
    .filter((file) => file !== "pnpm-lock.yaml")
    .flatMap((file) => [...read(file).matchAll(/\bpnpm@(\d[\w.-]*)/g)].map(([, version]) => ({ file, version })));
  expect(named.filter(({ version }) => version !== pnpmVersion)).toEqual([]);
  expect(new Set(named.map(({ file }) => file)).size).toBeGreaterThan(15);
});

test("packages are held against the Node that the launcher brings", () => {
  const versions = [...read("pnpm-workspace.yaml").matchAll(/^ *(?:nodeVersion|node-linux-\w+): (\S+)$/gm)];
  expect(versions).toHaveLength(3);
  expect(new Set(versions.map(([, version]) => version)).size).toBe(1);
});
