import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { prepareFolder, withoutSecrets, writeReports } from "../report/write-reports.ts";
import type { Recording } from "../report/write-reports.ts";
import { buildReport } from "../report/report.ts";
import { hasColours, toTerminal } from "../report/terminal.ts";
import { assess } from "../run/assess.ts";
import type { Step } from "../judge/check.ts";
import { baselineOf } from "../run/baseline.ts";
import type { Baseline } from "../run/baseline.ts";
import type { Assessment } from "../run/verdict.ts";
import { checksFor, faultsOfSuite, stepsFor } from "../run/plan.ts";
import { describeEstimate, estimate, pricesIn } from "../run/estimate.ts";
import type { Evidence } from "../run/perform-steps.ts";
import type { RunProfile } from "../profile.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { Secrets } from "../wire/http-request.ts";
import { describeRun } from "./dry-run.ts";
import { collectEvidence } from "../run/collect-evidence.ts";
import { preflight } from "../preflight/preflight.ts";
import { assertWritable, readBaseline, writeBaseline } from "./baseline-file.ts";
import { addProfileFlags, readProfile, readWhole } from "./profile-flags.ts";
import type { ProfileFlags } from "./profile-flags.ts";
import { interruptedCode, listenForInterrupt, Progress } from "./progress.ts";

interface RunFlags extends ProfileFlags {
  readonly strict?: boolean;
  readonly baseline?: string;
  readonly writeBaseline?: string;
  readonly report?: string;
  readonly ca?: string;
  readonly maxCost?: number;
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly timeout: number;
  readonly timeBudget: number;
}

/** 4: the suite itself has a mistake, so no verdict can be trusted. */
const suiteFault = 4;

export function addRunCommand(program: Command): void {
  addProfileFlags(program.command("run").description("send requests to a service and judge its answers"))
    .option("--strict", "a broken SHOULD fails as well")
    .option("--baseline <file>", "known failures to allow, each with a reason and an expiry date")
    .option("--write-baseline <file>", "write the failures of this run there as known ones, each allowed for 90 days")
    .option("--report <folder>", "write the page, JSON, Markdown, JUnit, SARIF, badges and the recording there")
    .option("--ca <file>", "certificates to trust, as PEM")
    .option("--max-cost <usd>", "stop sending once this much was spent, by the prices of the listing", readCost)
    .option(
      "--dry-run",
      "print what would be sent, its tokens and its cost, and send nothing but a request for the listing",
    )
    .option("--quiet", "show no progress on standard error")
    .option("--verbose", "print every verdict that is not a pass, with its exchange and command")
    .option("--timeout <seconds>", "the longest wait for one answer", readWhole, 60)
    .option("--time-budget <seconds>", "the longest time for the whole run", readWhole, 600)
    .action(async (flags: RunFlags) => {
      process.exitCode = await run(flags);
    });
}

const readCost = (text: string): number => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("It must be an amount in US dollars.");
  return Number(text);
};

async function run(flags: RunFlags): Promise<number> {
  const faults = faultsOfSuite();
  if (faults.length > 0) {
    process.stderr.write(`The suite itself has a mistake:\n${faults.join("\n")}\n`);
    return suiteFault;
  }
  if (flags.baseUrl === undefined) throw new Error("--base-url is missing.");
  const { profile, secrets } = readProfile(flags);
  const today = new Date().toISOString().slice(0, 10);
  const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline, today);
  if (flags.writeBaseline !== undefined) assertWritable(flags.writeBaseline);
  const ca = flags.ca === undefined ? undefined : readCertificates(flags.ca);
  if (flags.dryRun === true) {
    process.stdout.write(await describeRun(profile, secrets, ca));
    return 0;
  }
  if (flags.report !== undefined) await prepareFolder(flags.report);
  const steps = stepsFor(checksFor(profile), profile);
  const tellCost = (listing: Exchange | undefined): void => announceCost(listing, steps, profile, flags);
  if (profile.isKeyless === true) tellCost(undefined);
  const begunMs = performance.now();
  using interrupt = listenForInterrupt();
  using progress = new Progress(flags.quiet === true);
  const evidence = await collectEvidence({
    profile,
    secrets,
    ca,
    deadlineMs: flags.timeout * 1000,
    budgetMs: flags.timeBudget * 1000,
    maxCostUsd: flags.maxCost,
    onExchange: progress.note,
    preflight:
      profile.isKeyless === true
        ? undefined
        : (target) => preflight(profile, steps, flags.apiKeyEnv, target, (listing) => tellCost(listing)),
    signal: interrupt.signal,
  });
  progress[Symbol.dispose]();
  const durationMs = performance.now() - begunMs;
  const assessment = judgeRun(evidence, profile, flags, { known: baseline, today });
  const exitCode = await tellResult(assessment, { profile, durationMs, evidence }, flags, secrets);
  return interrupt.signal.aborted ? interruptedCode : exitCode;
}

/** Says what the run may cost, before the first chat request. @throws if `--max-cost` cannot be kept */
function announceCost(
  listing: Exchange | undefined,
  steps: readonly Step[],
  profile: RunProfile,
  { maxCost, quiet }: RunFlags,
): void {
  if (maxCost !== undefined && profile.isKeyless !== true && !pricesIn(profile, listing))
    throw new Error("--max-cost cannot be kept, because the listing has no prices of the model: leave it out.");
  if (quiet !== true) process.stderr.write(`${describeEstimate(estimate(steps, profile, listing))}\n`);
}

/** Prints the result, writes the reports if the flags name their folder, and returns the exit code. */
async function tellResult(
  assessment: Assessment,
  recording: Recording,
  { apiKeyEnv, report: folder, ca, verbose }: RunFlags,
  secrets: Secrets,
): Promise<number> {
  const { evidence, profile, durationMs } = recording;
  const report = buildReport(assessment, evidence, profile, durationMs, { keyVariable: apiKeyEnv, folder, ca });
  const text = toTerminal(report, { isVerbose: verbose === true, hasColours: hasColours(), folder });
  process.stdout.write(withoutSecrets(text, secrets));
  if (folder !== undefined) await writeReports(folder, report, recording, secrets);
  return report.exitCode;
}

/** Judges the evidence, and writes the failures as a baseline if the flags ask for it. */
function judgeRun(
  evidence: Evidence,
  profile: RunProfile,
  { strict, writeBaseline: file }: RunFlags,
  { known, today }: { readonly known: Baseline | undefined; readonly today: string },
): Assessment {
  const assessWith = (baseline: Baseline | undefined): Assessment =>
    assess(evidence, profile, { isStrict: strict === true, today, ...(baseline && { baseline }) });
  const assessment = assessWith(known);
  // A run that ended early has not seen every failure.
  if (file === undefined || assessment.stopped !== undefined) return assessment;
  const written = baselineOf(assessment.verdicts, known, today);
  writeBaseline(file, written);
  process.stderr.write(`${file}: ${written.known.length} known failures.\n`);
  return assessWith(written);
}

function readCertificates(file: string): string {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new Error(`--ca ${file} cannot be read: name a file with certificates in PEM.`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`--ca ${file} has no certificate in PEM.`);
  return text;
}
