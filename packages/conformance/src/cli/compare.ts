import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { compareReports } from "../report/compare.ts";
import type { Report } from "../report/report.ts";

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
