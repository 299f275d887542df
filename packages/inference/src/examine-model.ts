import { planSlots } from "./embedded/plan-slots.ts";
import type { ModelSettings } from "./embedded/plan-slots.ts";
import { bad, good } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { readModelFolder } from "./model-folder/model-folder.ts";
import { readScript } from "./scripted/child/read-script.ts";

/**
 * Finds the faults for which the process of an embedded model would refuse to start: a bad file, or a cache too small for one
 * context.
 */
export const examineEmbedded = (topic: string, model: ModelSettings): Promise<Finding> =>
  examine(topic, async () => {
    // llama.cpp must run in a child process. Only its header reader is used here, and it is loaded on demand.
    const { checkModelFile } = await import("./embedded/child/check-model-file.ts");
    const { explanation } = planSlots(await checkModelFile(model.file, model.sha256), model);
    return `${model.file}, ${explanation}`;
  });

/** Finds the faults for which the scripted engine would refuse to start. */
export const examineScript = (topic: string, file: string | undefined): Promise<Finding> =>
  examine(topic, async () => {
    const { scenarios } = await readScript(file);
    return `a script with ${Object.keys(scenarios).length} scenarios`;
  });

/** Examines the tokenizer folder of a remote model. Its server is not contacted here. */
export const examineTokenizer = (topic: string, folder: string): Promise<Finding> =>
  examine(topic, async () => {
    readModelFolder(folder);
    return `the tokenizer in ${folder}`;
  });

async function examine(topic: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return good(topic, await look());
  } catch (error) {
    return bad(topic, error instanceof Error ? error.message : String(error));
  }
}
