import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { publishedPackages, readManifest } from "./manifests.ts";
import { pnpm } from "./pnpm.ts";
import { root } from "./root.ts";
import { usePackage } from "./use-package.ts";

// Does the work of a release and of its users: clone, install, pack; then install each package alone in empty projects with
// several package managers, check its types, and run its commands. Only committed files can be packed.

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
    use(join(packed, tarball), join(folder, "package"));
    rmSync(join(folder, "package"), { recursive: true });
  }
}

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

/** Installs and uses a package as partners do. */
function use(tarball: string, path: string): void {
  const faults = usePackage(tarball, readManifest(path), mkdtempSync(join(folder, "partners-")));
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(`${basename(tarball)}: ${faults.length === 0 ? "works" : "does not work"} for partners\n`);
  if (faults.length > 0) process.exitCode = 1;
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

try {
  pack(join(folder, "clone"), join(folder, "packed"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
