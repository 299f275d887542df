import { spawnSync } from "node:child_process";
import { didNotRun } from "../step.ts";

// Checks that Docker's client reaches an engine.

const { status, stderr } = spawnSync("docker", ["version"], { encoding: "utf8" });
if (status !== 0) {
  process.stdout.write(`Docker does not answer: ${stderr.trim().split("\n").at(-1)}\n`);
  process.exitCode = didNotRun;
}
