import { steps } from "../steps.ts";
import { runOnHost } from "./run-step.ts";

// Runs one step by name; `run-in-copy.ts` starts this program in a copy. The last printed line is the outcome.

const [, , name] = process.argv;
const step = steps.find((one) => one.name === name);
if (!step) throw new Error(`there is no step "${name}"`);
const outcome = await runOnHost(step, new AbortController().signal);
process.stdout.write(`\n${JSON.stringify(outcome)}\n`);
