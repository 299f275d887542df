import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { AdapterProcess } from "../client-mode/adapter-process.ts";
import { clientClauses } from "../client-mode/clauses/index.ts";
import { judgeClient } from "../client-mode/judge-client.ts";
import type { CaseResult } from "../client-mode/perform-case.ts";
import { buildClientReport, toClientTerminal } from "../client-mode/report.ts";
import { prepareFolder } from "../report/write-reports.ts";
import { readWhole } from "./profile-flags.ts";

interface ClientFlags {
  readonly adapter?: string;
  readonly name?: string;
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly strict?: boolean;
  readonly jobs: number;
  readonly startTimeout: number;
  readonly report?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly list?: boolean;
}

const readIds = (text: string): readonly string[] => {
  const ids = text.split(",").map((id) => id.trim().toUpperCase());
  const unknown = ids.find((id) => !clientClauses.some((clause) => clause.id === id));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no clause ${unknown}. \`client --list\` shows them all.`);
  return ids;
};

const readCount = (text: string): number => {
  const count = readWhole(text);
  if (count < 1) throw new InvalidArgumentError("It must be at least 1.");
  return count;
};

export function addClientCommand(program: Command): void {
  program
    .command("client")
    .description("judge an SDK: a scripted server plays every case, and an adapter calls the SDK")
    .option("--adapter <command>", "the command that starts the adapter; its protocol is in sdks/README.md")
    .option("--name <name>", "name and version of the SDK, for the report (default: the command)")
    .option("--only <ids>", "clauses to judge, such as CLNT-04,CLNT-23", readIds)
    .option("--skip <ids>", "clauses not to judge", readIds)
    .option("--strict", "a broken SHOULD fails as well")
    .option("--jobs <n>", "cases at the same time, each with an adapter process of its own", readCount, 2)
    .option("--start-timeout <seconds>", "the longest wait for the first request of a case", readCount, 60)
    .option("--report <folder>", "write client.json there")
    .option("--json", "print the report, or the list, as JSON")
    .option("--verbose", "show each task, its answer, and the number of requests")
    .option("--list", "print the clauses, and judge nothing")
    .action(async (flags: ClientFlags) => {
      process.exitCode = flags.list === true ? list(flags.json === true) : await judge(flags);
    });
}

function list(isJson: boolean): number {
  const rows = clientClauses.map(({ cases, ...clause }) => ({ ...clause, cases: cases.map(({ name }) => name) }));
  const lines = rows.map(({ id, keyword, sentence }) => `${id} ${keyword.padEnd(6)} ${sentence}`);
  process.stdout.write(isJson ? `${JSON.stringify(rows, undefined, 2)}\n` : `${lines.join("\n")}\n`);
  return 0;
}

async function judge(flags: ClientFlags): Promise<number> {
  const { adapter, only, skip } = flags;
  if (adapter === undefined) throw new Error("--adapter is missing.");
  if (flags.report !== undefined) await prepareFolder(flags.report);
  const begunMs = performance.now();
  const judgedAt = new Date().toISOString();
  let done = 0;
  const results = await judgeClient({
    openAdapter: () => new AdapterProcess(adapter),
    jobs: flags.jobs,
    ...(only && { only }),
    ...(skip && { skip }),
    startLimitMs: flags.startTimeout * 1000,
    onCase: (result) => {
      done += 1;
      if (flags.verbose === true) process.stderr.write(describe(result));
      else if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done} cases, last: ${result.name}`);
    },
  });
  if (process.stderr.isTTY && flags.verbose !== true) process.stderr.write("\r\u001b[K");
  const durationMs = performance.now() - begunMs;
  const report = buildClientReport(results, {
    sdk: flags.name ?? adapter,
    judgedAt,
    durationMs,
    isStrict: flags.strict === true,
  });
  const json = `${JSON.stringify(report, undefined, 1)}\n`;
  process.stdout.write(flags.json === true ? json : toClientTerminal(results, report));
  if (flags.report !== undefined) {
    writeFileSync(join(flags.report, "client.json"), json);
  }
  return report.exitCode;
}

function describe({ state, evidence: { task, outcome, requests, tookMs } }: CaseResult): string {
  const { apiKey: _, ...shown } = task;
  return `${state} ${JSON.stringify(shown)}\n  ${requests.length} requests, ${Math.round(tookMs)} ms, ${JSON.stringify(outcome).slice(0, 2000)}\n`;
}
