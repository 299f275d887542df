import { findShallows, readFloors } from "./depth.ts";
import { gateRuns } from "../ci/fuzz-gate.ts";
import { addRecord, newTally } from "./record.ts";
import { summarize } from "./summary.ts";

// The last step of the gate. It checks that the runs were deep enough to be meaningful.

for (const engine of ["scripted", "embedded"] as const) {
  const tally = newTally();
  for (const { record } of gateRuns.filter((run) => run.engine === engine)) await addRecord(tally, record);
  const shallows = findShallows(tally, readFloors()[engine]);
  process.stdout.write(`-- ${engine}\n${summarize(tally)}\n${shallows.map((one) => `FAIL ${one}\n`).join("")}`);
  if (shallows.length > 0) process.exitCode = 1;
}
