import { expect, test } from "vitest";
import { runInCopy } from "../host/run-in-copy.ts";
import { steps } from "../steps.ts";

const quick = steps.find(({ name }) => name === "contract-lint");
if (!quick) throw new Error("the table has no contract-lint");
const never = new AbortController().signal;

// Both tests install the packages of the lock file, which can be slow on a busy machine.
const enough = { timeout: 180_000 };

test("a step passes in a copy that holds its inputs and nothing else", enough, async () => {
  expect(await runInCopy(quick, never)).toEqual({ passed: 1, failed: 0, skipped: [] });
});

test("a step that reads what it does not declare fails there", enough, async () => {
  const outcome = await runInCopy({ ...quick, inputs: [] }, never);
  expect(outcome).toMatchObject({ passed: 0, failed: 1 });
  expect(outcome.trouble).toContain("valid path to the configuration file");
});
