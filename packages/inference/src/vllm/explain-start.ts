import { inspectImage, userOf } from "./container/container-host.ts";
import { findContainerEngine } from "./container/container-engine.ts";
import { cpuPriorityArguments } from "./container/cpu-priority.ts";
import { planContainer } from "./container/plan-container.ts";
import type { ContainerSettings } from "./container/plan-container.ts";
import { readModelFolder } from "../model-folder/model-folder.ts";
import { findVllm } from "./process/find-vllm.ts";
import { planProcess } from "./process/plan-process.ts";
import type { ProcessSettings } from "./process/plan-process.ts";

/** Returns the shell command line that would start an engine. @throws the error that prevents a start */
export async function explainProcess(settings: ProcessSettings, runFolder: string): Promise<string> {
  const vllm = await findVllm(settings.vllm, settings.installFolder);
  const plan = planProcess(settings, runFolder, readModelFolder(settings.weights), vllm);
  const variables = Object.entries(plan.variables).map(([name, value]) => `${name}=${quote(value)}`);
  return [...variables, quote(plan.command), ...plan.args.map(quote)].join(" ");
}

/** The same for a container. */
export async function explainContainer(settings: ContainerSettings, runFolder: string): Promise<string> {
  const engine = await findContainerEngine();
  const image = await inspectImage(engine, settings.image);
  const cpuPriority = await cpuPriorityArguments(engine);
  const machine = { program: engine.program, cpuPriority, runFolder, owner: "parley", user: userOf(process) };
  const { args } = planContainer(settings, readModelFolder(settings.weights), image, machine);
  return [engine.program, ...args.map(quote)].join(" ");
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
