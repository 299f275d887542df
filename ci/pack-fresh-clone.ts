import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpm } from "./pnpm.ts";
import { root } from "./root.ts";

// Does the work of a release and of its user: clone, install, pack; then install each package alone in an empty project, and
// run its command. Only committed files can be packed.

const folder = mkdtempSync(join(tmpdir(), "parley-clone-"));

function pack(clone: string, packed: string): void {
  mkdirSync(packed);
  run(folder, "git", "clone", "--quiet", "--depth", "1", `file://${root}`, clone);
  run(clone, ...pnpm, "install", "--frozen-lockfile", "--prefer-offline", "--reporter=silent");
  for (const name of publishedPackages(clone)) {
    run(clone, ...pnpm, "--filter", name, "pack", "--pack-destination", packed);
  }
  for (const tarball of readdirSync(packed)) {
    run(folder, "tar", "-xzf", join(packed, tarball));
    check(tarball, join(folder, "package"));
    rmSync(join(folder, "package"), { recursive: true });
    use(join(packed, tarball));
  }
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: { readonly ".": { readonly default: string } };
}

const readManifest = (path: string): Manifest =>
  JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest; // a package of ours

const publishedPackages = (clone: string): string[] =>
  readdirSync(join(clone, "packages"))
    .map((name) => readManifest(join(clone, "packages", name)))
    .filter((manifest) => manifest.private !== true)
    .map(({ name }) => name);

/** Checks that a package works elsewhere: it contains its code and licence, and its dependencies have versions. */
function check(tarball: string, path: string): void {
  const { dependencies = {}, exports } = readManifest(path);
  const faults = [
    ...[exports["."].default, "LICENSE", "README.md"]
      .filter((file) => !existsSync(join(path, file)))
      .map((file) => `${file} is missing`),
    ...Object.entries(dependencies)
      .filter(([, version]) => !/^\d/.test(version))
      .map(([name, version]) => `${name} has the version "${version}"`),
  ];
  process.stdout.write(`${tarball}: ${faults.length === 0 ? "in order" : faults.join(", ")}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Installs a package as a partner does, imports it, and asks each of its commands for its version. */
function use(tarball: string): void {
  const project = mkdtempSync(join(folder, "empty-"));
  run(project, "npm", "install", "--silent", "--no-audit", "--no-fund", tarball);
  const scope = join(project, "node_modules/@parley");
  const [installed = ""] = readdirSync(scope);
  const { name, version, bin = {} } = readManifest(join(scope, installed));
  run(project, "node", "--input-type=module", "--eval", `await import(${JSON.stringify(name)})`);
  for (const command of Object.keys(bin)) {
    const told = execFileSync("npx", ["--no-install", command, "--version"], { cwd: project, encoding: "utf8" }).trim();
    process.stdout.write(`${command} --version: ${told}\n`);
    if (told !== version) process.exitCode = 1;
  }
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

try {
  pack(join(folder, "clone"), join(folder, "packed"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
