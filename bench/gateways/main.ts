import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NativeBuildError } from "../native/build.ts";
import { startEngine } from "../native/start-engine.ts";
import { duties, within } from "./duty.ts";
import { readFlags } from "./flags.ts";
import type { Flags } from "./flags.ts";
import { LoadFailedError } from "./measure.ts";
import { compareResults } from "./report/compare.ts";
import { writePage } from "./report/page.ts";
import { writePlot } from "./report/plot.ts";
import { describeMachine, readCommit, readResult } from "./report/result.ts";
import type { BenchResult } from "./report/result.ts";
import { runRounds } from "./run-rounds.ts";
import { soak, writeSoak } from "./soak.ts";
import { modelFolder, modelName } from "./subjects/subject.ts";

// Measures what gateways cost in front of one engine: `npx -y pnpm@12.21.0 bench --help`.

const flags = readFlags();
const aborted = new AbortController();
const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => aborted.abort());
try {
  if (flags.soakMinutes === undefined) save(await run(flags), flags);
  else await runSoak(flags, flags.soakMinutes);
} catch (error) {
  if (aborted.signal.aborted) {
    process.stderr.write("Stopped; nothing was saved.\n");
    process.exitCode = 130;
  } else if (error instanceof NativeBuildError || error instanceof LoadFailedError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else throw error;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run({ kinds, rows, duty, note, rounds, isInstalling }: Flags): Promise<BenchResult> {
  if (isInstalling) for (const kind of kinds) kind.install?.();
  const bounded = within({ ...duties[duty], ...(rounds !== undefined && { rounds }) }, openFiles());
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  await using engine = await startEngine({ model: modelName, tokenizer: modelFolder, folder });
  const date = new Date().toISOString();
  const plan = { kinds, rows, duty: bounded, folder, signal: aborted.signal, log };
  const { figures, missing, wrong, ran } = await runRounds(plan, engine);
  if (wrong.length > 0) {
    process.stderr.write(`Not the engine's answers:\n${wrong.join("\n")}\n`);
    process.exitCode = 1;
  }
  return {
    date,
    ...readCommit(),
    duty,
    rounds: bounded.rounds,
    machine: describeMachine(),
    ...(note !== undefined && { note }),
    subjects: kinds.filter(({ name }) => ran.includes(name)).map(({ name, title }) => ({ name, title })),
    figures,
    missing,
  };
}

async function runSoak({ kinds, out }: Flags, minutes: number): Promise<void> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  await using engine = await startEngine({ model: modelName, tokenizer: modelFolder, folder });
  const target = join(out, `${new Date().toISOString().slice(0, 10)}-${readCommit().commit}`);
  mkdirSync(target, { recursive: true });
  for (const kind of kinds) {
    const result = await soak(kind, engine, { minutes, folder, signal: aborted.signal, log });
    const page = `${describeMachine()}\n\n${writeSoak(result)}`;
    writeFileSync(join(target, `soak-${kind.name}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
    writeFileSync(join(target, `soak-${kind.name}.md`), page);
    process.stdout.write(page);
    if (result.failure === undefined) continue;
    process.exitCode = aborted.signal.aborted ? 130 : 1;
    break;
  }
  log(`Saved in ${target}`);
}

/** The limit of open files in the shell, which all processes inherit. */
function openFiles(): number {
  return Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })) || 1024;
}

function save(result: BenchResult, { out, compared }: Flags): void {
  const page = writePage(result);
  const target = join(out, `${result.date.slice(0, 10)}-${result.commit}`);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
  writeFileSync(join(target, "README.md"), page);
  writeFileSync(join(target, "plot.svg"), writePlot(result));
  process.stdout.write(page);
  if (compared !== undefined) process.stdout.write(`\n${compareResults(result, readResult(compared))}`);
  process.stderr.write(`Saved in ${target}\n`);
}
