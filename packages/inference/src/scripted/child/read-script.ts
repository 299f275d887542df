import { readFile } from "node:fs/promises";
import { isRecord } from "@parley/common/is-record";
import type { Script } from "../script.ts";

/** The script is invalid. The message says where and why. */
export class ScriptError extends Error {
  override name = "ScriptError";
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTrue = (value: unknown): boolean => value === true;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** The possible actions of a step, with the check of each value. A step has exactly one of them. */
const actions: Readonly<Record<string, (value: unknown) => boolean>> = {
  role: isTrue,
  text: isText,
  reasoning: isText,
  // Members are not checked: a script may play faults such as a negative index.
  tool: (value) => isRecord(value),
  finish: isText,
  wait_ms: isCount,
  wait_for: isText,
  stall: isTrue,
  spin: isTrue,
  freeze: isTrue,
  die: isTrue,
  crash: isText,
  reset: isTrue,
  fail: isText,
  refuse: isText,
  raw: isText,
  split: isTrue,
  repeat: isCount,
};

/** Reads the script of a file. Without a file, returns a script without scenarios. @throws {ScriptError} */
export async function readScript(file: string | undefined): Promise<Script> {
  if (file === undefined) return { scenarios: {} };
  try {
    const script: unknown = JSON.parse(await readFile(file, "utf8"));
    const scenarios = isRecord(script) ? script["scenarios"] : undefined;
    if (!isRecord(scenarios)) throw new ScriptError('it must be {"scenarios": {NAME: [STEP, …]}}');
    for (const [name, steps] of Object.entries(scenarios)) assertSteps(steps, `scenario ${JSON.stringify(name)}`);
    return { scenarios } as Script; // checked above
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ScriptError(`The script ${file} cannot be played: ${reason}`, { cause: error });
  }
}

function assertSteps(steps: unknown, where: string): void {
  if (!Array.isArray(steps)) throw new ScriptError(`${where} must be a list of steps`);
  for (const [index, step] of steps.entries()) assertStep(step, `step ${index + 1} of ${where}`);
}

function assertStep(step: unknown, where: string): void {
  const fields = isRecord(step) ? step : {};
  const named = Object.keys(fields).filter((name) => name in actions);
  const [action = ""] = named;
  if (named.length !== 1)
    throw new ScriptError(`${where} must have one of ${Object.keys(actions).join(", ")}, not ${JSON.stringify(step)}`);
  if (actions[action]?.(fields[action]) !== true)
    throw new ScriptError(`${where} has a wrong ${action}: ${JSON.stringify(fields[action])}`);
  if (action === "repeat") assertSteps(fields["steps"], `the repeated ${where}`);
}
