import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { readResult, stages, writeResult } from "./results.ts";
import type { Row } from "./results.ts";
import { runTool } from "./run-tool.ts";
import type { Outcome } from "./run-tool.ts";
import { startTarget } from "./start-target.ts";
import { prerequisites } from "./tool.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";

const help = `Usage: pnpm partners [--only TOOL,…] [--check] [--list]

Generates a client from the contract with each tool, compiles it with its program, runs it against a real Parley with the
scripted engine, and writes the result beside the program. A cell that was red before is no failure. It downloads the tools from their registries. \`pnpm generate\`
makes docs/guides/generators.md from the results.

  --only TOOL,…  only these tools; the results of the others stay
  --check        writes no results; fails where a tool does worse than its result says
  --list         names the tools
`;

class UsageError extends Error {
  override readonly name = "UsageError";
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      check: { type: "boolean" },
      list: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) say(help);
  else if (values.list) for (const { name, title, version } of tools) say(`${name.padEnd(28)} ${title} ${version}`);
  else return runTools(select(values.only), values.check === true);
  return 0;
}

function select(only: string | undefined): readonly Tool[] {
  const names = only?.split(",");
  const unknown = names?.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no tool "${unknown}"; --list names them`);
  return tools.filter(({ name }) => names?.includes(name) ?? true);
}

async function runTools(selected: readonly Tool[], isCheck: boolean): Promise<number> {
  await using target = await startTarget();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const tool of selected) {
    const missing = tool.needs.filter((program) => !isInstalled(program));
    if (missing.length > 0) {
      counts.skipped += 1;
      // The pipeline's summary shows lines of this form.
      say(`SKIPPED ${tool.name}: install ${missing.map((program) => prerequisites[program]).join(" and ")}`);
      continue;
    }
    const before = readResult(tool);
    const outcome = await runTool(tool, target);
    if (!isCheck) writeResult(tool, outcome.row);
    const isFailed = isWorse(outcome, before);
    report(tool, outcome, isFailed || !isCheck);
    counts[isFailed ? "failed" : "passed"] += 1;
  }
  say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? 0 : 1;
}

/** Checks for a cell that fails and did not before, or a limit that is gone, so that the remarks are wrong. */
const isWorse = ({ row, lifted }: Outcome, before: Row | undefined): boolean =>
  lifted.length > 0 || stages.some((stage) => row[stage] !== "passed" && row[stage] !== before?.[stage]);

const isInstalled = (program: string): boolean =>
  spawnSync(program, [program === "go" ? "version" : "--version"], { stdio: "ignore" }).status === 0;

function report({ name }: Tool, { row, failures, lifted }: Outcome, isInFull: boolean): void {
  const cells = Object.entries(row).map(([stage, cell]) => `${stage} ${cell}`);
  say(`${name}: ${cells.join(", ")}`);
  for (const failure of isInFull ? [...failures, ...lifted] : []) say(failure.split("\n").slice(0, 30).join("\n    "));
}

/** The command line is wrong; the message says what to write instead. */
const isUsageError = (error: unknown): error is Error =>
  error instanceof UsageError || (error instanceof TypeError && "code" in error);

try {
  process.exitCode = await main();
} catch (error) {
  if (!isUsageError(error)) throw error;
  process.stderr.write(`partners: ${error.message}\n`);
  process.exitCode = 2;
}
