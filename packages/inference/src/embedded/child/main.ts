import { Buffer } from "node:buffer";
import { sendStatus, serveEngine } from "../../child/serve.ts";
import { endBecauseOf, endWithParent } from "../../child/end-with-parent.ts";
import { MemoryBudgetError } from "../plan-slots.ts";
import type { EmbeddedChildSettings } from "../settings.ts";
import { ModelFileError, cannotLoad, checkModelFile } from "./check-model-file.ts";
import { metadataOf } from "./metadata.ts";
import { llamaCore } from "./core.ts";
import { loadModel } from "./load-model.ts";
import { PromptThreads } from "../../prompt/prompt-threads.ts";

/** The process of one embedded model. Its only argument is its settings as base64-encoded JSON. */
async function main(settings: EmbeddedChildSettings): Promise<void> {
  endWithParent();
  const file = await checkModelFile(settings.model.file, settings.model.sha256);
  const [model, prompts] = await Promise.all([
    loadModel(settings.model, file, `${settings.socketPath}.move`, reportLoading()),
    startPrompts(settings.model.file).catch((error: unknown) => {
      throw cannotLoad(settings.model.file, `its tokenizer and chat template cannot be used (${String(error)})`);
    }),
  ]);
  await serveEngine(llamaCore(model, prompts), settings.socketPath);
  sendStatus({ status: "ready", metadata: metadataOf(model, settings) });
}

const startPrompts = (model: string): Promise<PromptThreads> =>
  PromptThreads.start({ program: new URL("./prompt-worker.ts", import.meta.url), model });

/** Reports every tenth of the progress, because llama.cpp reports every tensor. */
function reportLoading(): (share: number) => void {
  let reported = 0;
  return (share) => {
    if (share < 1 && share - reported < 0.1) return;
    reported = share;
    sendStatus({ status: "loading", share, detail: "reading weights" });
  };
}

try {
  // Our own driver wrote the settings.
  await main(JSON.parse(Buffer.from(process.argv[2] ?? "", "base64").toString("utf8")) as EmbeddedChildSettings);
} catch (error) {
  // A restart would fail again, because it changes neither the memory budget nor the file.
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof MemoryBudgetError || error instanceof ModelFileError) sendStatus({ status: "fatal", message });
  endBecauseOf(error);
}
