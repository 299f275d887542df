import { planSlots } from "./embedded/plan-slots.ts";
import type { ModelSettings } from "./embedded/plan-slots.ts";
import { bad, good } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { readModelFolder } from "./model-folder/model-folder.ts";
import { readScript } from "./scripted/child/read-script.ts";

/** What the process of an embedded model would refuse: the file, and a cache that holds not even one context. */
export const examineEmbedded = (topic: string, model: ModelSettings): Promise<Finding> =>
  examine(topic, async () => {
    // llama.cpp belongs in a process of its own; only its reader of headers is used here, and only on demand.
    const { checkModelFile } = await import("./embedded/child/check-model-file.ts");
    const { explanation } = planSlots(await checkModelFile(model.file, model.sha256), model);
    return `${model.file}, ${explanation}`;
  });

/** What the scripted engine would refuse. */
export const examineScript = (topic: string, file: string | undefined): Promise<Finding> =>
  examine(topic, async () => {
    const { scenarios } = await readScript(file);
    return `a script with ${Object.keys(scenarios).length} scenarios`;
  });

/** The folder with the tokenizer of a remote model. Whether its server answers is seen when it is asked. */
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
