import { GgufFileType } from "node-llama-cpp";
import type { EngineMetadata } from "../../engine.ts";
import { fingerprint } from "../../fingerprint.ts";
import type { EmbeddedChildSettings } from "../settings.ts";
import type { LoadedModel } from "./load-model.ts";

/** Returns the metadata of the loaded model. */
export function metadataOf(model: LoadedModel, settings: EmbeddedChildSettings): EngineMetadata {
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
