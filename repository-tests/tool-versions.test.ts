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

test("every version is written once, in the catalogs of pnpm-workspace.yaml", () => {
  // The programs of partners are projects of their own, outside of the workspace.
  const manifests = files.filter((path) => /^(?:packages\/[^/]+\/|repo\/)?package\.json$/.test(path));
  expect(manifests.length).toBeGreaterThan(5);
  const written = manifests.flatMap((path) => {
    const manifest = JSON.parse(read(path)) as Readonly<Record<string, Readonly<Record<string, string>>>>; // only groups of packages are read
    return ["dependencies", "devDependencies", "optionalDependencies"]
      .flatMap((group) => Object.entries(manifest[group] ?? {}))
      .flatMap(([name, version]) => (/^(?:catalog|workspace):/.test(version) ? [] : [`${path}: ${name} ${version}`]));
  });
  expect(written).toEqual([]);
});
