import { Buffer } from "node:buffer";
import { GgufFileType } from "node-llama-cpp";
import { endBecauseOf, endWithParent } from "../../child/end-with-parent.ts";
import { sendStatus, serveEngine } from "../../child/serve.ts";
import type { EngineMetadata } from "../../engine.ts";
import { fingerprint } from "../../fingerprint.ts";
import { PromptThreads } from "../../prompt/prompt-threads.ts";
import { MemoryBudgetError } from "../plan-slots.ts";
import type { EmbeddedChildSettings } from "../settings.ts";
import { ModelFileError, cannotLoad, checkModelFile } from "./check-model-file.ts";
import { llamaCore } from "./core.ts";
import { loadModel } from "./load-model.ts";
import type { LoadedModel } from "./load-model.ts";

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

/** Returns the metadata of the loaded model. */
function metadataOf(model: LoadedModel, settings: EmbeddedChildSettings): EngineMetadata {
  const template = model.file.metadata.tokenizer.chat_template ?? "";
  return {
    contextLength: model.plan.contextLength,
    quantization: quantizationOf(model.file.metadata.general.file_type),
    systemFingerprint: fingerprint([
      settings.weightsId,
      model.engine,
      template,
      settings.schemaPrompt ?? "",
      JSON.stringify([settings.sampling, settings.model.processors]),
    ]),
    slots: model.plan.slots,
    spareSlots: model.plan.spareSlots,
    ...model.capabilities,
    samplingDefaults: settings.sampling,
    schemaPrompt: settings.schemaPrompt,
    description: model.plan.explanation,
  };
}

/** `bf16`, `q4_k_m`, …: llama.cpp's own name for the file's format. */
function quantizationOf(fileType: number | undefined): string {
  const name = fileType === undefined ? undefined : GgufFileType[fileType];
  return (name ?? "unknown").replace(/^(ALL|MOSTLY)_/, "").toLowerCase();
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
