import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AdapterProcess } from "../src/client-mode/adapter-process.ts";
import { judgeClient } from "../src/client-mode/judge-client.ts";
import { buildClientReport, toClientTerminal } from "../src/client-mode/report.ts";
import type { ClientReport } from "../src/client-mode/report.ts";
import { matrixFile, nameInReport, readReport, toMatrix, writeReport } from "./matrix.ts";
import { sdks } from "./sdks.ts";
import type { Sdk } from "./sdks.ts";

const help = `Usage: pnpm sdks [--only NAME,…] [--check] [--jobs N] [--list]

Installs SDKs, judges each in client mode, and writes results/ and docs/guides/sdks-judged.md.

  --only NAME,…  only these; the results of the others stay
  --check        writes nothing; fails if a clause is broken that the committed result has as kept
  --jobs N       cases at the same time (default: 2)
  --list         names the SDKs
`;

const folder = fileURLToPath(new URL(".", import.meta.url));
const tools = fileURLToPath(new URL("../../../.parley/sdks", import.meta.url));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const isInstalled = ({ install }: Sdk): boolean =>
  install.every((command) => {
    const { status, stderr } = spawnSync(command, { cwd: folder, shell: true, encoding: "utf8" });
    if (status !== 0) say(stderr.trim().split("\n").slice(-5).join("\n"));
    return status === 0;
  });

async function judge(sdk: Sdk, jobs: number): Promise<ClientReport> {
  const begunMs = performance.now();
  const judgedAt = new Date().toISOString().slice(0, 10);
  const results = await judgeClient({ openAdapter: () => new AdapterProcess(sdk.adapter), jobs, startLimitMs: 60_000 });
  const durationMs = performance.now() - begunMs;
  const report = buildClientReport(results, { sdk: nameInReport(sdk), judgedAt, durationMs, isStrict: false });
  say(toClientTerminal(results, report));
  return report;
}

/** Finds clauses that were kept and are broken now. */
const findWorse = (report: ClientReport, before: ClientReport | undefined): string[] =>
  report.clauses
    .filter(({ state }) => state === "FAIL" || state === "WARN")
    .filter(({ id }) => before?.clauses.find((clause) => clause.id === id)?.state === "PASS")
    .map(({ id }) => id);

async function main(): Promise<number> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { only: text, jobs: text, check: flag, list: flag, help: flag } });
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !sdks.some((sdk) => sdk.name === name));
  if (unknown !== undefined) throw new Error(`There is no SDK "${unknown}"; --list names them.`);
  if (values.help === true) say(help);
  if (values.list === true) for (const { name, version } of sdks) say(`${name.padEnd(18)} ${version}`);
  if (values.help === true || values.list === true) return 0;
  process.env["TOOLS"] = tools;
  process.chdir(folder);
  mkdirSync(tools, { recursive: true });
  let failures = 0;
  for (const sdk of sdks.filter(({ name }) => names?.includes(name) ?? true)) {
    if (!isInstalled(sdk)) {
      say(`SKIPPED ${sdk.name}: it could not be installed.`);
      continue;
    }
    const report = await judge(sdk, Number(values.jobs ?? 2));
    const worse = values.check === true ? findWorse(report, readReport(sdk)) : [];
    if (worse.length > 0) say(`${sdk.name} is worse than its committed result: ${worse.join(", ")}`);
    failures += worse.length;
    if (values.check !== true) writeReport(sdk, report);
  }
  if (values.check !== true) writeFileSync(matrixFile, toMatrix());
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
