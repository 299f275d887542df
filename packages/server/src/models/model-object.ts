import { samplingNames } from "../config/sampling.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { components } from "@parley/contract/types";
import type { ServedModel } from "./served-model.ts";

export type ModelObject = components["schemas"]["Model"];

const supportedSampling: readonly string[] = [
  ...samplingNames,
  "seed",
  "stop",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "n",
  "max_completion_tokens",
  "max_tokens",
];

/** Returns the context window of a model, which prompt and completion share, in tokens. */
export const contextLengthOf = (model: ServedModel): number =>
  model.engine.metadata?.contextLength ?? model.contextLength ?? contract["x-limits"].contextLengthTokens.value;

/** Returns the maximum number of completion tokens of one choice. */
export const maxCompletionOf = (model: ServedModel): number =>
  Math.min(model.maxCompletionTokens, contextLengthOf(model));

/** Returns the model object of the listing. It contains the metadata that the engine has reported so far. */
export function toModelObject(model: ServedModel): ModelObject {
  const { metadata, state } = model.engine;
  const {
    aliases,
    trainedPromptTokens: trained,
    huggingFaceId: hugging_face_id,
    deprecationDate: deprecation_date,
  } = model;
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    name: model.displayName,
    description: model.description,
    context_length: contextLengthOf(model),
    ...(trained !== undefined && { trained_prompt_tokens: Math.min(trained, contextLengthOf(model)) }),
    max_completion_tokens: maxCompletionOf(model),
    max_output_length: maxCompletionOf(model),
    quantization: model.quantization ?? metadata?.quantization ?? "bf16",
    pricing: model.pricing,
    input_modalities: ["text"],
    output_modalities: ["text"],
    supported_sampling_parameters: samplingOf(model),
    supported_features: featuresOf(model),
    default_sampling_parameters: metadata?.samplingDefaults ?? {},
    ...(metadata?.canReason && { default_reasoning_effort: model.defaultReasoningEffort }),
    is_ready: state === "ready",
    ...(aliases.length > 0 && { aliases: [...aliases] }),
    ...(hugging_face_id !== undefined && { hugging_face_id }),
    ...(deprecation_date !== undefined && { deprecation_date }),
  };
}

function samplingOf({ engine: { metadata } }: ServedModel): string[] {
  const unsupportedSampling: readonly string[] = metadata?.unsupportedSampling ?? [];
  return supportedSampling.filter((name) => !unsupportedSampling.includes(name));
}

function featuresOf({ engine: { metadata } }: ServedModel): string[] {
  const always = ["json_mode", "structured_outputs", "logprobs"];
  return [
    ...(metadata?.canCallTools ? ["tools"] : []),
    ...always,
    ...(metadata?.canReason ? ["reasoning"] : []),
    ...(metadata?.schemaPrompt === undefined ? [] : ["schema_in_prompt"]),
  ];
}
