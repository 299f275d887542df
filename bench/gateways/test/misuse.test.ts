import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");

test.each([
  ["bench/embedded.ts", "--rounds 0"],
  ["bench/floor.ts", "--rounds x"],
  ["bench/fronts/main.ts", "--only WRONG"],
  ["bench/gateways/main.ts", "--compare nowhere"],
  ["bench/pressure/main.ts", "--json nowhere/file"],
  ["bench/replicas/main.ts", "--only"],
  ["bench/tracing.ts", "--rounds 8 --rounds 9"],
  ["bench/vllm/report.ts", "--parts contract,,"],
  ["ci/contract-diff/main.ts", "--unknown"],
  ["ci/release/main.ts", "--unknown"],
  ["fuzz/main.ts", "--seed 1e3"],
  ["packages/json-schema-grammar/bench/main.ts", "--data nowhere"],
])("%s ends with 2 for %j, because 1 says that it has found something", (program, flags) => {
  const args = [join(root, program), ...flags.split(" ")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: root });
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: /)]);
});
