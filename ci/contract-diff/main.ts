import { copyFileSync, existsSync } from "node:fs";
import { ReportCommand } from "@parley/common/flag-values";
import { grades } from "./change.ts";
import type { Change } from "./change.ts";
import { adminFiles, currentFile, findChanges, releasedFile } from "./find-changes.ts";
import { bumpFor, isEnough } from "./version.ts";

/** Compares a contract with that of the last release. @returns the exit code */
function compare(against: string, of: string): number {
  const { changes, before, now } = findChanges(against, of);
  print(changes);
  return judge(changes, before, now);
}

function print(changes: readonly Change[]): void {
  for (const grade of grades) {
    const lines = changes.filter((change) => change.grade === grade).map(({ place, what }) => `  ${place}: ${what}`);
    if (lines.length > 0) process.stdout.write(`${grade}\n${[...new Set(lines)].join("\n")}\n`);
  }
}

function judge(changes: readonly Change[], before: string, now: string): number {
  const counts = grades.map((grade) => `${changes.filter((change) => change.grade === grade).length} ${grade}`);
  const bump = bumpFor(changes.map(({ grade }) => grade));
  const isAllowed = bump !== "major" || isEnough(before, now, bump);
  const advice = isAllowed
    ? `The next version needs a ${bump} step from ${before}; info.version is ${now}.`
    : `A change that breaks callers needs a new major version: ${before} was released, and info.version is ${now}.`;
  process.stdout.write(`${counts.join(", ")}. ${bump === "none" ? `Nothing has changed since ${before}.` : advice}\n`);
  return isAllowed ? 0 : 1;
}

interface Flags {
  readonly against?: string;
  readonly of?: string;
  readonly release?: true;
}

const command = new ReportCommand("contract:diff")
  .description(
    "Compares both contracts with those of the last release, and calls each change breaking, additive or editorial. In a " +
      "request it is breaking to refuse more, in an answer to send what was not promised. Fails where a change is " +
      "breaking and info.version has no new major number.",
  )
  .option("--against <file>", "another bundle than openapi/released/contract.json")
  .option("--of <file>", "another bundle than the generated one")
  .option("--release", "make these contracts the last released ones: a part of every release")
  .action(({ against = releasedFile, of = currentFile, release }: Flags) => {
    if (release === true) {
      copyFileSync(currentFile, releasedFile);
      copyFileSync(adminFiles.current, adminFiles.released);
      return;
    }
    const missing = [against, of].find((file) => !existsSync(file));
    if (missing !== undefined) command.error(`There is no ${missing} to compare with.`);
    const codes = [compare(against, of)];
    if (against === releasedFile && of === currentFile) {
      process.stdout.write("The admin API:\n");
      if (existsSync(adminFiles.released)) codes.push(compare(adminFiles.released, adminFiles.current));
      else process.stdout.write("The last release does not have it.\n");
    }
    process.exitCode = Math.max(...codes);
  });

command.parse();
