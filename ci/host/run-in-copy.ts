import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob } from "node:path";
import { logFileOf } from "../log.ts";
import { lastLines, skipped } from "../outcome.ts";
import type { Outcome } from "../outcome.ts";
import { pnpm } from "../pnpm.ts";
import { root } from "../root.ts";
import { isInputOf, lockFiles } from "../step.ts";
import type { Step } from "../step.ts";
import { steps } from "../steps.ts";
import { runToEnd } from "./processes.ts";

/**
 * Runs a step in a copy with the same files as the step's container: the packages of the lock file, the step's inputs, and the
 * outputs of earlier steps that it needs. A file that the step reads but does not declare is missing there.
 */
export async function runInCopy(step: Step, stop: AbortSignal): Promise<Outcome> {
  if (stop.aborted) return skipped("the run was stopped");
  const log = logFileOf("copies", step);
  const copy = mkdtempSync(join(tmpdir(), "parley-copy-"));
  const run = (...command: readonly [string, ...string[]]): Promise<number> =>
    runToEnd(command, process.env, log, stop);
  try {
    rmSync(log, { force: true });
    mkdirSync(dirname(log), { recursive: true });
    copyFiles([...filesFor(step), ...leftFor(step)], root, copy);
    await run(...pnpm, "--dir", copy, "install", "--frozen-lockfile", "--prefer-offline", "--reporter=silent");
    const exitCode = await run("node", join(copy, "ci/host/run-alone.ts"), step.name);
    copyFiles(step.outputs, copy, root);
    const printed = readFileSync(log, "utf8");
    if (exitCode !== 0) return { passed: 0, failed: 1, skipped: [], trouble: lastLines(printed, 40) };
    return JSON.parse(lastLines(printed, 1)) as Outcome; // `run-alone.ts` has written it
  } catch (error) {
    return { passed: 0, failed: 1, skipped: [], trouble: String(error) };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function filesFor(step: Step): string[] {
  const asked = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const known = execFileSync("git", asked, { cwd: root, encoding: "utf8" }).trimEnd().split("\n");
  const isInstalledBy = (file: string): boolean => lockFiles.some((pattern) => matchesGlob(file, pattern));
  return [...known, ".git"].filter((file) => isInputOf(step, file) || isInstalledBy(file));
}

const leftFor = ({ needs }: Step): string[] =>
  steps.filter(({ name }) => needs.includes(name)).flatMap(({ outputs }) => outputs);

function copyFiles(paths: readonly string[], from: string, to: string): void {
  for (const path of paths.filter((one) => existsSync(join(from, one)))) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(from, path), join(to, path), { recursive: true });
  }
}
