import { Ajv2020 } from "ajv/dist/2020.js";
import contract from "../generated/contract.json" with { type: "json" };
import { engineDrivers } from "./engine-options.ts";
import { modelNames, remoteProtocols, samplingNames } from "./model-settings.ts";
import { options, settingNames } from "./options.ts";

const decimal = { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$", description: "US dollars, a decimal string" };

/** A default has the bounds of the request member that it stands in for. */
function boundsOf(name: (typeof samplingNames)[number]): object {
  const { type, description: _text, ...bounds } = contract.components.schemas.ChatCompletionRequest.properties[name];
  return { ...bounds, type: type[0] };
}

const count = { type: "integer", minimum: 1 };
const textMember = (description: string): object => ({ type: "string", minLength: 1, description });
const url = { type: "string", pattern: "^https?://[^?]+$" };

const remoteSchema = {
  type: "object",
  additionalProperties: false,
  description: "how a model is reached that others serve",
  properties: {
    urls: { type: "array", minItems: 1, items: url, description: "several are asked in turn" },
    model: textMember("the name that it has there"),
    tokenizer: textMember("folder with its tokenizer and chat template"),
    protocol: {
      enum: [...remoteProtocols],
      description: "completions: token ids to /v1/completions (the default); chat: messages to /v1/chat/completions",
    },
    headers: {
      type: "object",
      propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
      additionalProperties: { type: "string" },
      description: "sent with every request; {key}, {user} and {metadata.NAME} stand for the caller's",
    },
    ca_file: textMember("file with the certificates (PEM) that are believed"),
    proxy: url,
  },
};

const engineMembers = {
  engine: { enum: [...engineDrivers], description: "what serves this model, where that differs from the others" },
  weights: textMember("folder of weights"),
  slots: { ...count, description: "choices at the same time" },
  kv_memory_mb: { ...count, description: "MiB for the key-value cache" },
  gpus: { type: "string", pattern: "^\\d+(,\\d+)*$", description: "GPUs by their numbers, separated by commas" },
  gpu_memory_share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  tensor_parallel: count,
  cores: { type: "string", pattern: "^[\\d,|-]+$", description: "processors by their numbers" },
  arguments: { type: "array", items: { type: "string" }, description: "more arguments for the engine's program" },
  remote: remoteSchema,
};

const modelSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    label: { type: "string", minLength: 1, description: "display label; the name is `<vendor label>: <label>`" },
    description: { type: "string", minLength: 1 },
    hugging_face_id: { type: "string", minLength: 1 },
    deprecation_date: { type: "string", pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" },
    ...engineMembers,
    context_length: { type: "integer", minimum: 256, description: "tokens; at most what the model file declares" },
    pricing: {
      type: "object",
      additionalProperties: false,
      properties: { prompt: decimal, completion: decimal, image: decimal, request: decimal },
    },
    sampling: {
      type: "object",
      additionalProperties: false,
      description: "values that apply where a request names none",
      properties: Object.fromEntries(samplingNames.map((name) => [name, boundsOf(name)])),
    },
  },
};

const modelsSchema = {
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(modelNames.map((name) => [name, modelSchema])),
};

/** JSON Schema of `parley.yaml`. */
export function configSchema(): object {
  const settings = settingNames.flatMap((name) => {
    const { key, help } = options[name];
    return key === undefined
      ? []
      : [[key, { type: ["string", "number", "array"], items: { type: "string" }, description: help }] as const];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "parley.yaml",
    type: "object",
    additionalProperties: false,
    properties: { ...Object.fromEntries(settings), models: modelsSchema },
  };
}

/** What is wrong with the `models` member, a sentence each. */
export function findModelMistakes(models: unknown): string[] {
  const ajv = new Ajv2020({ allErrors: true });
  if (ajv.validate(modelsSchema, models)) return [];
  return (ajv.errors ?? []).map((error) => {
    const place = `models${error.instancePath.replaceAll("/", ".")}`;
    const extra: unknown = error.params["additionalProperty"];
    return `parley.yaml: ${place}${typeof extra === "string" ? `.${extra} is not a setting` : ` ${error.message}`}`;
  });
}
