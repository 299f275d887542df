import { existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a file that only its owner may read.
 * @returns its descriptor
 * @throws {Error} with a message for the operator, if the file exists or its folder does not
 */
export function createPrivateFile(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    throw new Error(adviseOnFile(file, error instanceof Error && "code" in error ? error.code : undefined), {
      cause: error,
    });
  }
}

function adviseOnFile(file: string, code: unknown): string {
  if (code === "EEXIST") return `${file} exists already. Name another file, so that nothing is overwritten.`;
  if (code === "ENOENT") return `There is no folder ${dirname(file)}. Make it first, or name another file.`;
  if (code === "EACCES" || code === "EROFS")
    return `${dirname(file)} cannot be written. Name a file in another folder.`;
  return `${file} cannot be written (${String(code)}). Name another file.`;
}

/**
 * Makes a folder that only its owner can read, and its parents. Node's own recursive mode never ends where the system refuses a
 * folder as if its parent were missing, as below `/proc`.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(resolve(path));
  if (!existsSync(parent)) makePrivateFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}
