import { steps } from "../steps.ts";
import { runOnHost } from "./run-step.ts";

// What `run-in-copy.ts` starts in a copy: the step of this name and no other. The last line that it prints is the outcome.

const [, , name] = process.argv;
const step = steps.find((one) => one.name === name);
if (!step) throw new Error(`there is no step "${name}"`);
const outcome = await runOnHost(step, new AbortController().signal);
process.stdout.write(`\n${JSON.stringify(outcome)}\n`);
