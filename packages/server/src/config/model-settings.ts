import { z } from "zod";
import type { components } from "../generated/contract.ts";
import { demoModels } from "./default-models.ts";
import { engineDrivers } from "./engine-settings.ts";
import { remoteSchema } from "./remote-settings.ts";
import { samplingSchema } from "./sampling.ts";
import { about, day, listOf, mapping, oneOf, path, price, share, text, whole } from "./value-kinds.ts";

const efforts = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly components["schemas"]["ReasoningEffort"][];
export type ReasoningEffort = (typeof efforts)[number];

const demoNames = Object.keys(demoModels) as (keyof typeof demoModels)[]; // the keys of a constant object
export type DemoName = (typeof demoNames)[number];

const segment = "[A-Za-z0-9][A-Za-z0-9._:@-]*";
const modelName = text("a name of letters, digits and .-_:@", new RegExp(`^${segment}$`));
const modelId = text("a vendor prefix, a slash and a name", new RegExp(`^${segment}(/${segment})+$`));
const alias = text("a name such as gpt-4o", new RegExp(`^${segment}(/${segment})*$`));

const line = () => text("a text", /./);
const tokens = (least: number) => whole(least, 1_000_000_000, "tokens");
const created = z.union([whole(0, 1e12), day().transform((text) => Date.parse(text) / 1000)], {
  error: "a date such as 2026-11-01, or seconds of Unix time",
});

/** What callers see is called as in the model object. */
const shown = {
  id: about(modelId, "what callers ask for; absent: `<vendor>/<name>`"),
  aliases: about(listOf("names", alias), "other names that callers may ask for; an answer names what was asked for"),
  label: about(line(), "the display name is `<vendor label>: <label>`; absent: the name"),
  description: about(line(), "what callers are told of it"),
  created: about(created, "when the model was made"),
  context_length: about(tokens(256), "tokens that prompt and answer share; at most what the model's files declare"),
  trained_prompt_tokens: about(
    tokens(1),
    "tokens of the longest prompt that it was trained on; callers are told, and longer prompts are taken as before",
  ),
  max_completion_tokens: about(tokens(1), "tokens of one choice at most; the context is a bound, too"),
  default_reasoning_effort: about(oneOf(...efforts), "of a request that names none, where the model can reason"),
  quantization: about(line(), "number format of the weights; absent: what the engine reports"),
  pricing: about(
    mapping({
      prompt: about(price(), "for each token of the prompt"),
      completion: about(price(), "for each generated token"),
      image: about(price(), "for each image"),
      request: about(price(), "for each answered request"),
    }),
    "US dollars, as decimal numbers in quotation marks",
  ),
  hugging_face_id: about(line(), "where the weights are published"),
  deprecation_date: about(day(), "last day on which it is offered"),
  schema_prompt: about(
    text("a text with {schema} in it", /\{schema\}/),
    "line of the system message that shows the model the schema of `response_format`, with {schema} where it belongs; " +
      "absent: a schema is enforced and not shown; without effect where an upstream makes the prompt",
  ),
  sampling: about(samplingSchema, "values that apply where a request names none"),
};

const engine = {
  engine: about(oneOf(...engineDrivers), "what serves it; absent: `engine` of the server"),
  demo: about(oneOf(...demoNames), "a demonstration model of this repository, in place of `gguf` or `weights`"),
  gguf: about(path(), "GGUF file, for the embedded engine"),
  weights: about(path(), "folder of weights in the Hugging Face form, for vLLM"),
  script: about(path(), "scenarios of the scripted engine; absent: `script` of the server"),
  remote: about(remoteSchema, "how a model is reached that others serve"),
  slots: about(whole(1, 65_536), "choices at the same time on vLLM; absent: `engine_slots` of the server"),
  kv_memory_mb: about(whole(1, 1_048_576, "MiB"), "key-value cache, in MiB; absent: `kv_memory_mb` of the server"),
  threads: about(whole(1, 256), "threads of the embedded engine; absent: `engine_threads` of the server"),
  gpus: about(text("numbers separated by commas", /^\d+(,\d+)*$/), "GPUs for vLLM by their numbers"),
  gpu_memory_share: about(share(), "share of a GPU's memory for vLLM"),
  tensor_parallel: about(whole(1, 1024), "GPUs that vLLM splits the model over"),
  cores: about(text("numbers such as 0-3 or 0,2", /^[\d,|-]+$/), "processors for vLLM by their numbers"),
  arguments: about(listOf("texts", z.string({ error: "a text" })), "more arguments for vLLM"),
};

const modelSchema = mapping({ ...shown, ...engine });

/** The settings of one model, as an operator wrote them. */
export type ModelSettings = z.output<typeof modelSchema>;

/** `models` of the file. An entry without a value takes every default. */
export const modelsSchema = z
  .record(modelName, modelSchema.nullable(), { error: "a mapping of model names to settings" })
  .optional()
  .meta({
    description:
      "the models that are served, by name, in the order of the listing; a model that is not named is not served; " +
      "absent: model-1 and model-1-mini",
  });
