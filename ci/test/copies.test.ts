import { expect, test } from "vitest";
import { runInCopy } from "../host/run-in-copy.ts";
import { stepsNamed } from "../select.ts";
import { steps } from "../steps.ts";

const [quick] = stepsNamed(["contract-lint"], steps);
if (!quick) throw new Error("the table has no contract-lint");
const never = new AbortController().signal;

test("a step passes in a copy that holds its inputs and nothing else", async () => {
  expect(await runInCopy(quick, never)).toEqual({ passed: 1, failed: 0, skipped: [] });
});

test("a step that reads what it does not declare fails there", async () => {
  const outcome = await runInCopy({ ...quick, inputs: [] }, never);
  expect(outcome).toMatchObject({ passed: 0, failed: 1 });
  expect(outcome.trouble).toContain("valid path to the configuration file");
});
