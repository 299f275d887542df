import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { findShallows, readFloors } from "./depth.ts";
import { workFolder } from "./work-folder.ts";
import { addRecord, newTally } from "./record.ts";
import type { Tally } from "./record.ts";
import { runSchemathesis } from "./run.ts";
import type { Schemathesis, Source } from "./run.ts";
import { summarize } from "./summary.ts";
import { startTarget } from "./target.ts";
import type { EngineName } from "./target.ts";

const seed = 20_261_121;

/** What the gate sends, and to whom. The seed is fixed: the same tree gives the same verdict. */
const plan: Readonly<Record<EngineName, readonly (readonly [source: Source, cases: number])[]>> = {
  scripted: [
    ["grammar", 4000],
    ["schema", 60],
    ["auth", 10],
  ],
  embedded: [["grammar", 60]],
};

/** @returns what is wrong: failures of the server, and depths that were not reached */
export async function runGate(program: Schemathesis, stop: AbortSignal): Promise<string[]> {
  const faults: string[] = [];
  for (const engine of ["scripted", "embedded"] as const) {
    faults.push(...(stop.aborted ? ["stopped"] : await fuzz(program, engine, stop)));
  }
  return faults;
}

async function fuzz(program: Schemathesis, engine: EngineName, stop: AbortSignal): Promise<string[]> {
  const folder = join(workFolder, `gate-${engine}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await using target = await startTarget(engine);
  const faults: string[] = [];
  const tally: Tally = newTally();
  for (const [source, cases] of plan[engine]) {
    const record = join(folder, `${source}.ndjson`);
    const log = join(folder, `${source}.log`);
    const exitCode = await runSchemathesis(program, target, { source, cases, seed, record, log }, stop);
    if (exitCode !== 0) faults.push(`${engine}, ${source}: Schemathesis found something, see ${log}`);
    await addRecord(tally, record);
  }
  if (target.exitCode() !== null) faults.push(`the ${engine} server ended with ${target.exitCode()}`);
  process.stdout.write(`-- ${engine}\n${summarize(tally)}\n`);
  return [...faults, ...findShallows(tally, readFloors()[engine]).map((one) => `${engine}: ${one}`)];
}
