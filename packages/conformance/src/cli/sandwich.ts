import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { prepareFolder, withoutSecrets } from "../report/write-reports.ts";
import { buildSandwichReport, sandwichToTerminal } from "../sandwich/report.ts";
import { isolationCase, runSandwich, sandwichCases, sandwichNames } from "../sandwich/sandwich.ts";
import { startUpstream } from "../sandwich/upstream.ts";
import { readProfile, readWhole } from "./profile-flags.ts";

interface SandwichFlags {
  readonly baseUrl?: string;
  readonly apiKeyEnv: string;
  readonly model: string;
  readonly upstreamModel?: string;
  readonly upstreamHost: string;
  readonly upstreamPort: number;
  readonly header: readonly string[];
  readonly allow: readonly string[];
  readonly only?: readonly string[];
  readonly skip: readonly string[];
  readonly strict?: boolean;
  readonly report?: string;
  readonly ca?: string;
  readonly timeout: number;
  readonly wait: number;
  readonly list?: boolean;
}

const split = (text: string): readonly string[] => text.split(",").map((part) => part.trim());
const splitCases = (text: string): readonly string[] => {
  const odd = split(text).find((name) => !sandwichNames.includes(name));
  if (odd !== undefined) throw new Error(`"${odd}" is not a case. --list prints them.`);
  return split(text);
};

export function addSandwichCommand(program: Command): void {
  program
    .command("sandwich")
    .description("judge a gateway with the suite's own upstream behind it: what it loses, changes or invents")
    .option("--base-url <url>", "the gateway, such as http://host/v1")
    .option("--api-key-env <name>", "environment variable that holds the caller's key of the gateway", "API_KEY")
    .option("--model <id>", "the model as a caller of the gateway names it", "sandwich-model")
    .option("--upstream-model <id>", "the name under which the gateway has to request that model (default: any)")
    .option("--upstream-host <address>", "the address that the upstream listens on", "127.0.0.1")
    .option("--upstream-port <port>", "the port of the upstream, which the gateway has to use", readWhole, 8900)
    .option(
      "--header <header>",
      "`Name: value` for every request; may be repeated",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--allow <names>", "differences that are legal here, such as id,created,model or /usage/cost", split, [])
    .option("--only <cases>", "run these cases only", splitCases)
    .option("--skip <cases>", "leave these cases out", splitCases, [])
    .option("--strict", "notes count as well")
    .option("--report <folder>", "write sandwich.json and the recording there")
    .option("--ca <file>", "certificates to trust, as PEM")
    .option("--timeout <seconds>", "the longest wait for one answer", readWhole, 30)
    .option("--wait <seconds>", "the gateway may take this long to start", readWhole, 30)
    .option("--list", "print the cases, and send nothing")
    .action(async (flags: SandwichFlags) => {
      process.exitCode = flags.list === true ? list() : await run(flags);
    });
}

function list(): number {
  const cases = [...sandwichCases, isolationCase];
  process.stdout.write(cases.map(({ name, does }) => `${name.padEnd(24)} ${does}\n`).join(""));
  return 0;
}

async function run(flags: SandwichFlags): Promise<number> {
  if (flags.baseUrl === undefined) throw new Error("--base-url is missing.");
  if (flags.report !== undefined) await prepareFolder(flags.report);
  const { profile, secrets } = readProfile({ ...flags, level: [], seed: 0 });
  const names = (flags.only ?? sandwichNames).filter((name) => !flags.skip.includes(name));
  await using upstream = await startUpstream({
    host: flags.upstreamHost,
    port: flags.upstreamPort,
    model: flags.upstreamModel ?? flags.model,
  });
  process.stderr.write(`The upstream listens at ${upstream.baseUrl}.\n`);
  const [startedAt, beganMs] = [new Date().toISOString(), performance.now()];
  const ran = await runSandwich(upstream, {
    profile,
    secrets,
    ca: flags.ca === undefined ? undefined : readFileSync(flags.ca, "utf8"),
    model: flags.model,
    upstreamModel: flags.upstreamModel,
    deadlineMs: flags.timeout * 1000,
    startMs: flags.wait * 1000,
    names,
    onCase: (name) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${name}`)),
  });
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  const report = buildSandwichReport(ran, {
    baseUrl: profile.origin + profile.basePath,
    startedAt,
    durationMs: performance.now() - beganMs,
    allowed: flags.allow,
    isStrict: flags.strict === true,
  });
  process.stdout.write(withoutSecrets(sandwichToTerminal(report, flags.strict === true), secrets));
  if (flags.report !== undefined) {
    const files = { "sandwich.json": report, "sandwich-recording.json": ran };
    for (const [name, content] of Object.entries(files))
      await writeFile(join(flags.report, name), withoutSecrets(`${JSON.stringify(content, undefined, 1)}\n`, secrets));
  }
  return report.exitCode;
}
