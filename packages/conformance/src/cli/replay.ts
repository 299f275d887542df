import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { compareReports } from "../report/markdown.ts";
import { buildReport } from "../report/report.ts";
import type { Report } from "../report/report.ts";
import { hasColours, toTerminal } from "../report/terminal.ts";
import { writeReports } from "../report/write-reports.ts";
import type { Recording } from "../report/write-reports.ts";
import { assess } from "../run/assess.ts";

interface ReplayFlags {
  readonly strict?: boolean;
  readonly report?: string;
  readonly verbose?: boolean;
}

export function addReplayCommand(program: Command): void {
  program
    .command("replay")
    .description("judge a recording again, without the network")
    .argument("<recording>", "recording.json of an earlier run")
    .option("--strict", "a broken SHOULD fails as well")
    .option("--report <folder>", "write the reports there")
    .option("--verbose", "print every verdict that is not a pass")
    .action(async (file: string, { strict, report: folder, verbose }: ReplayFlags) => {
      const recording = JSON.parse(readFileSync(file, "utf8")) as Recording; // what `run` wrote
      const { profile, evidence, durationMs } = recording;
      const report = buildReport(
        assess(evidence, profile, { isStrict: strict === true }),
        evidence,
        profile,
        durationMs,
        { keyVariable: "API_KEY", folder },
      );
      process.stdout.write(toTerminal(report, { isVerbose: verbose === true, hasColours: hasColours(), folder }));
      if (folder !== undefined) await writeReports(folder, report, recording, new Map());
      process.exitCode = report.exitCode;
    });
}

export function addCompareCommand(program: Command): void {
  program
    .command("compare")
    .description("several implementations side by side, as Markdown")
    .argument("<reports...>", "report.json of each")
    .action((files: readonly string[]) => {
      // The file that `run` wrote.
      const reports = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as Report);
      process.stdout.write(compareReports(reports));
    });
}
