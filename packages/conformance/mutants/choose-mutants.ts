import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SeededMutant } from "./kill.ts";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** One in this number of mutants is chosen. */
const share = 4;

export interface Choice {
  /** As `PARLEY_MUTANTS`: the same value chooses the same mutants. */
  readonly seed: string;
  readonly mutants: readonly SeededMutant[];
}

/**
 * Chooses the mutants of a test run. `all`: every one. Any other seed chooses a quarter. Without a seed the hash of the tree
 * is the seed: every state of the sources tries another quarter, and the same state the same quarter.
 */
export function chooseMutants(all: readonly SeededMutant[], given: string | undefined): Choice {
  const seed = given === undefined || given === "" ? hashOfTree() : given;
  if (seed === "all") return { seed, mutants: all };
  const rank = ({ bug }: SeededMutant): string => sha256(`${seed} ${bug}`);
  const ranked = all.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return { seed, mutants: ranked.slice(0, Math.ceil(all.length / share)) };
}

/** The hash that git has for the committed tree, or, without git, one of the sources of this package. */
function hashOfTree(): string {
  try {
    const hash = execFileSync("git", ["rev-parse", "HEAD^{tree}"], {
      cwd: packageFolder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return hash.trim().slice(0, 12);
  } catch {
    return hashOfSources();
  }
}

function hashOfSources(): string {
  const files = ["src", "mutants"].flatMap((folder) =>
    readdirSync(join(packageFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return sha256(
    files
      .toSorted()
      .map((file) => sha256(readFileSync(file)))
      .join(),
  ).slice(0, 12);
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
