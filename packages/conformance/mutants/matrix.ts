import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Kill } from "./kill.ts";

/** The kill matrix as it is stored. */
export interface Matrix {
  /** The hash of the checks and the mutants that made it. */
  readonly hash: string;
  readonly kills: readonly Kill[];
}

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const folders = ["src/clauses", "src/judge", "src/requests", "mutants/reference", "mutants/seeded-bugs"];

export const matrixFile = join(packageFolder, "mutants/kill-matrix.json");

// `kill-matrix.ts` wrote it.
export const readMatrix = (): Matrix => JSON.parse(readFileSync(matrixFile, "utf8")) as Matrix;

/**
 * The hash of the code that decides which clause fails with which mutant. Comments, white space and the texts of the checks do not
 * change it.
 */
export function hashOfChecksAndMutants(): string {
  const files = folders.flatMap((folder) =>
    readdirSync(join(packageFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "causes.ts") // it groups failures, and decides none
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(codeOf(readFileSync(file, "utf8"), file.includes("/src/")));
  return hash.digest("hex").slice(0, 16);
}

function codeOf(text: string, isCheck: boolean): string {
  const code = text.replaceAll(/\/\*\*[^]*?\*\//g, "").replaceAll(/(^|\s)\/\/ .*$/gm, "");
  return (isCheck ? code.replaceAll(/"[^"\n]*"|`[^`]*`/g, "") : code).replaceAll(/[\s,]+/g, "");
}
