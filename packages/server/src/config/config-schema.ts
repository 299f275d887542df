import { Ajv2020 } from "ajv/dist/2020.js";
import contract from "../generated/contract.json" with { type: "json" };
import { modelNames, samplingNames } from "./model-settings.ts";
import { options, settingNames } from "./options.ts";

const decimal = { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$", description: "US dollars, a decimal string" };

/** A default has the bounds of the request member that it stands in for. */
function boundsOf(name: (typeof samplingNames)[number]): object {
  const { type, description: _text, ...bounds } = contract.components.schemas.ChatCompletionRequest.properties[name];
  return { ...bounds, type: type[0] };
}

const modelSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    label: { type: "string", minLength: 1, description: "display label; the name is `<vendor label>: <label>`" },
    description: { type: "string", minLength: 1 },
    hugging_face_id: { type: "string", minLength: 1 },
    deprecation_date: { type: "string", pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" },
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
