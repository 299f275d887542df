import { findShallows, readFloors } from "./depth.ts";
import { gateRuns } from "../ci/fuzz-gate.ts";
import { addRecord, newTally } from "./record.ts";
import { summarize } from "./summary.ts";

// The last step of the gate. It checks that the runs were deep enough to be meaningful.

for (const target of ["scripted", "embedded", "admin"] as const) {
  const tally = newTally();
  for (const { record } of gateRuns.filter((run) => run.target === target)) await addRecord(tally, record);
  const shallows = findShallows(tally, readFloors()[target]);
  process.stdout.write(`-- ${target}\n${summarize(tally)}\n${shallows.map((one) => `FAIL ${one}\n`).join("")}`);
  if (shallows.length > 0) process.exitCode = 1;
}
