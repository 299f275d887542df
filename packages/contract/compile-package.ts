import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const contractDir = import.meta.dirname;
/** The folder of the contract's files in the package that is published. */
const inner = "contract-package";
const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));

/**
 * Compiles a package with its `tsconfig.build.json`, whose `rootDir` is `packages/` and which includes the parts of the
 * contract that the package imports. They become files in `dist/contract-package/`, so that the package can be published
 * without this one.
 * @param packageDir the folder of the package
 * @param dist the folder to write, which is replaced
 * @throws the error of `tsc`, whose output is passed on
 */
export function compilePackage(packageDir: string, dist = join(packageDir, "dist")): void {
  // Beside the package's own node_modules, so that a rename stays within one disk.
  const folder = mkdtempSync(join(packageDir, "node_modules/.compiled-"));
  try {
    const args = ["-p", join(packageDir, "tsconfig.build.json"), "--outDir", folder];
    execFileSync(tsc, args, { stdio: ["ignore", "inherit", "inherit"] });
    const compiled = join(folder, basename(packageDir), "src");
    renameSync(join(folder, "contract/src"), join(compiled, inner));
    for (const path of filesIn(compiled)) writeFileSync(path, withInnerPaths(path, join(compiled, inner)));
    rmSync(dist, { recursive: true, force: true });
    cpSync(compiled, dist, { recursive: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile() && /\.(js|d\.ts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

/** Returns the text of a compiled file. Each import of this package has become a path to a compiled file of it. */
function withInnerPaths(path: string, contractFiles: string): string {
  const pathTo = (name: string): string => {
    const file = fileOf(`./${name}`)
      .replace(/^\.\/src\//, "")
      .replace(/\.ts$/, ".js");
    const inner = relative(dirname(path), join(contractFiles, file)).replaceAll("\\", "/");
    return inner.startsWith(".") ? inner : `./${inner}`;
  };
  return readFileSync(path, "utf8").replaceAll(/(["'])@parley\/contract\/([^"']+)\1/g, (_whole, _quote, name: string) =>
    JSON.stringify(pathTo(name)),
  );
}

/** Finds the file of one of this package's exports. */
function fileOf(name: string): string {
  const manifest = JSON.parse(readFileSync(join(contractDir, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  }; // of this package
  const file = manifest.exports[name];
  if (file === undefined) throw new Error(`@parley/contract has no export ${name}`);
  return file;
}

if (import.meta.main) compilePackage(resolve(process.argv[2] ?? "."));
