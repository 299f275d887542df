import { readModelFolder } from "../model/model-folder.ts";
import { findVllm } from "./find-vllm.ts";
import { planProcess } from "./plan-process.ts";
import type { ProcessSettings } from "./plan-process.ts";

/** The command line that an engine would be started with, as a shell takes it. @throws what keeps it from being started */
export async function explainProcess(settings: ProcessSettings, runFolder: string): Promise<string> {
  const vllm = await findVllm(settings.vllm, settings.installFolder);
  const plan = planProcess(settings, runFolder, readModelFolder(settings.weights), vllm);
  const variables = Object.entries(plan.variables).map(([name, value]) => `${name}=${quote(value)}`);
  return [...variables, quote(plan.command), ...plan.args.map(quote)].join(" ");
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
