import { z } from "zod";
import type { components } from "@parley/contract/types";
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

const demoNames = Object.keys(demoModels) as (keyof typeof demoModels)[]; // demoModels has exactly these keys
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

/** Settings that callers see. They have the names of the model object. */
const shown = {
  id: about(modelId, "the model id; absent: `<vendor>/<name>`"),
  aliases: about(
    listOf("names", alias),
    "other names that callers may use; an answer has the name that its request used",
  ),
  label: about(line(), "the display name is `<vendor label>: <label>`; absent: the name"),
  description: about(line(), "description for callers"),
  created: about(created, "creation time of the model"),
  context_length: about(tokens(256), "context window in tokens; at most the value that the model's files declare"),
  trained_prompt_tokens: about(
    tokens(1),
    "tokens of the longest prompt that it was trained on; callers can read it, and longer prompts are still accepted",
  ),
  max_completion_tokens: about(
    tokens(1),
    "maximum number of completion tokens of one choice; the context window is also a limit",
  ),
  default_reasoning_effort: about(
    oneOf(...efforts),
    "reasoning effort of requests that set none, if the model can reason",
  ),
  quantization: about(line(), "number format of the weights; absent: as the engine reports it"),
  pricing: about(
    mapping({
      prompt: about(price(), "for each token of the prompt"),
      completion: about(price(), "for each generated token"),
      image: about(price(), "for each image"),
      request: about(price(), "for each answered request"),
      input_cache_read: about(
        price(),
        "for each token of the prompt that was in the cache, in place of `prompt`, and at most as much; absent: as `prompt`",
      ),
    }),
    "US dollars, as decimal numbers in quotation marks",
  ),
  hugging_face_id: about(line(), "where the weights are published"),
  deprecation_date: about(day(), "last day on which it is offered"),
  schema_prompt: about(
    text("a text with {schema} in it", /\{schema\}/),
    "line of the system message that shows the schema of `response_format` to the model, with {schema} as its placeholder; " +
      "absent: a schema is enforced but not shown; no effect if an upstream renders the prompt",
  ),
  sampling: about(samplingSchema, "sampling values of requests that set none"),
};

const engine = {
  engine: about(oneOf(...engineDrivers), "driver of its engine; absent: `engine` of the server"),
  demo: about(oneOf(...demoNames), "a demonstration model of this repository, in place of `gguf` or `weights`"),
  gguf: about(path(), "GGUF file, for the embedded engine"),
  weights: about(path(), "folder of weights in the Hugging Face form, for vLLM"),
  script: about(path(), "scenarios of the scripted engine; absent: `script` of the server"),
  remote: about(remoteSchema, "connection to a model on another server"),
  slots: about(whole(1, 65_536), "number of choices at the same time on vLLM; absent: `engine_slots` of the server"),
  kv_memory_mb: about(
    whole(1, 1_048_576, "MiB"),
    "memory for the key-value cache, in MiB; absent: `kv_memory_mb` of the server",
  ),
  threads: about(whole(1, 256), "threads of the embedded engine; absent: `engine_threads` of the server"),
  gpus: about(text("numbers separated by commas", /^\d+(,\d+)*$/), "GPUs for vLLM by their numbers"),
  gpu_memory_share: about(share(), "share of a GPU's memory for vLLM"),
  tensor_parallel: about(whole(1, 1024), "number of GPUs that vLLM splits the model over"),
  cores: about(text("numbers such as 0-3 or 0,2", /^[\d,|-]+$/), "processors for vLLM by their numbers"),
  arguments: about(listOf("texts", z.string({ error: "a text" })), "more arguments for vLLM"),
};

const modelSchema = mapping({ ...shown, ...engine });

/** The settings of one model in the file. */
export type ModelSettings = z.output<typeof modelSchema>;

/** The schema of `models` in the file. An entry without a value has all defaults. */
export const modelsSchema = z
  .record(modelName, modelSchema.nullable(), { error: "a mapping of model names to settings" })
  .optional()
  .meta({
    description:
      "the models to serve, by name, in the order of the listing; other models are not served; " +
      "absent: model-1 and model-1-mini",
  });
