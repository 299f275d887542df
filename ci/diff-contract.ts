import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./root.ts";
import { didNotRun } from "./step.ts";

// Compares the contract with that of the last release, which is the last tag v*. Redocly says what would break a caller.

const bundle = "packages/server/src/generated/contract.json";

const tag = lastRelease();
process.exitCode = tag === undefined ? didNotRun : compareWith(tag);

function lastRelease(): string | undefined {
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v*").trim();
  } catch {
    process.stdout.write("there is no release yet, that is no tag v*: nothing to compare the contract with\n");
    return undefined;
  }
}

function compareWith(release: string): number {
  const folder = mkdtempSync(join(tmpdir(), "parley-contract-"));
  try {
    const before = join(folder, "before.json");
    writeFileSync(before, git("show", `${release}:${bundle}`));
    process.stdout.write(`The contract beside that of ${release}:\n`);
    const { status } = spawnSync("redocly", ["diff", before, bundle, "--config", "ci/contract-diff.yaml"], {
      cwd: root,
      stdio: "inherit",
    });
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe", maxBuffer: 64 * 2 ** 20 });
}
