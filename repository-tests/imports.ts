import { dirname, join, normalize } from "node:path/posix";
import { files, read } from "./tree.ts";

/** Finds the imports of a file, including types: paths from the root for files of the tree, names for packages. */
export const importsOf = (path: string): string[] =>
  [...read(path).matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) => resolve(path, target));

/** Finds the imports of values; imports of types do not exist at run time. */
export const valueImports = (path: string): string[] =>
  [...read(path).matchAll(/^import (?!type )[^;]*?from "([^"]+)"/gm)].map(([, target = ""]) => resolve(path, target));

const resolve = (path: string, target: string): string =>
  target.startsWith(".") ? normalize(join(dirname(path), target)) : target;

/** Resolves an export of one of our packages: `@parley/inference/testing` → `packages/inference/testing/index.ts`. */
export function fileOf(target: string): string {
  const [, name, path = ""] = /^@parley\/([^/]+)(\/.+)?$/.exec(target) ?? [];
  if (name === undefined) return target;
  const folder = name === "site" ? name : `packages/${name}`;
  const { exports } = JSON.parse(read(`${folder}/package.json`)) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  }; // of our own package
  const file = exports[`.${path}`] ?? "";
  return `${folder}/${typeof file === "string" ? file.slice(2) : file.default.slice(2)}`;
}

/** Finds the files whose values a file re-exports. Node loads them as well. */
const exportsFrom = (path: string): string[] =>
  [...read(path).matchAll(/^export (?!type )[^;]*?from "([^"]+)"/gm)].map(([, target = ""]) => resolve(path, target));

/**
 * Finds the files that Node loads together with these: their imports, transitively, without dynamic imports.
 * @returns the paths of our own files, and the names of the packages that they import
 */
export function readWith(...roots: readonly string[]): Set<string> {
  const found = new Set(roots);
  for (const path of found) {
    if (!files.includes(path) || !path.endsWith(".ts")) continue;
    for (const target of [...valueImports(path), ...exportsFrom(path)]) found.add(fileOf(target));
  }
  return found;
}
