import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { buildDist, packageDir, root } from "./build-dist.ts";

const run = promisify(execFile);

export interface PackedPackage extends Disposable {
  /** The tarball that would be published. */
  readonly tarball: string;
  /** A project that has installed the package: files in this folder can import `@parley/client`. */
  readonly projectDir: string;
  /** The installed package. */
  readonly installedDir: string;
}

/** Packs the package as `pnpm publish` does, with the catalog's versions, and installs it into an empty project. */
export async function packPackage(): Promise<PackedPackage> {
  await buildDist();
  const folder = mkdtempSync(join(tmpdir(), "parley-pack-"));
  const staged = join(folder, "staged");
  mkdirSync(staged);
  for (const name of ["dist", "README.md"]) cpSync(join(packageDir, name), join(staged, name), { recursive: true });
  cpSync(join(root, "LICENSE"), join(staged, "LICENSE"));
  writeFileSync(join(staged, "package.json"), JSON.stringify(publishedManifest()));
  await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: staged });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  const projectDir = join(folder, "project");
  return {
    tarball,
    projectDir,
    installedDir: await install(tarball, projectDir),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly scripts?: unknown;
}

function publishedManifest(): Manifest {
  // The file is in this repository and has these members.
  const manifest = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as Manifest;
  const catalog = readCatalog();
  const { devDependencies: _, scripts: __, ...published } = manifest;
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies).map(([name, version]) => [
      name,
      version === "catalog:" ? (catalog[name] ?? "missing in the catalog") : version,
    ]),
  );
  return { ...published, dependencies };
}

/** The pinned version of every package that the workspace uses. */
export function readCatalog(): Readonly<Record<string, string>> {
  const workspace: unknown = parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"));
  return (workspace as { catalog: Record<string, string> }).catalog; // the file is in this repository, and has it
}

async function install(tarball: string, projectDir: string): Promise<string> {
  const installed = join(projectDir, "node_modules/@parley/client");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  for (const name of Object.keys(publishedManifest().dependencies)) {
    symlinkSync(realpathSync(join(packageDir, "node_modules", name)), join(projectDir, "node_modules", name));
  }
  writeFileSync(join(projectDir, "package.json"), JSON.stringify({ type: "module", private: true }));
  return installed;
}
