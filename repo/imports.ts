import { dirname, join, normalize } from "node:path/posix";
import { read } from "./tree.ts";

/** What a file imports, types included: paths from the root for its own tree, names for packages. */
export const importsOf = (path: string): string[] =>
  [...read(path).matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) => resolve(path, target));

/** What a file imports as values; imports of types vanish. */
export const valueImports = (path: string): string[] =>
  [...read(path).matchAll(/^import (?!type )[^;]*?from "([^"]+)"/gm)].map(([, target = ""]) => resolve(path, target));

const resolve = (path: string, target: string): string =>
  target.startsWith(".") ? normalize(join(dirname(path), target)) : target;
