import { errorReply } from "./edge.ts";
import type { Key } from "./keys.ts";
import type { Reply } from "./mutant.ts";
import type { World } from "./world.ts";
import { fault } from "./violation.ts";
import type { Violation } from "./violation.ts";

export const contextLength = 32_768;
const maximum = 16_384;
export const prices = { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0.00001" };

export const recordOf = (id: string, isReady: boolean): Record<string, unknown> => ({
  id,
  object: "model",
  created: 1_751_328_000,
  owned_by: "reference",
  name: "Reference: Toy",
  description: "It writes words that mean nothing.",
  context_length: contextLength,
  max_completion_tokens: maximum,
  max_output_length: maximum,
  quantization: "none",
  pricing: prices,
  input_modalities: ["text"],
  output_modalities: ["text"],
  supported_sampling_parameters: ["temperature", "seed", "stop"],
  supported_features: ["tools", "json_mode", "structured_outputs", "logprobs", "reasoning"],
  default_sampling_parameters: { temperature: 1, top_p: 1, top_k: 0 },
  default_reasoning_effort: "none",
  is_ready: isReady,
  ...(aliases[id] && { aliases: aliases[id] }),
});

export const modelIds = ["reference/toy", "reference/toy-mini"];
const aliases: Readonly<Record<string, readonly string[]>> = { "reference/toy": ["toy"] };
const idOf = (name: string): string => modelIds.find((id) => aliases[id]?.includes(name)) ?? name;

/** Whether a key may use what is called so: an id, or an alias. */
export function isOffered(name: string, { rules }: Key): boolean {
  const id = idOf(name);
  return modelIds.includes(id) && (rules.models?.includes(id) ?? true);
}

export const unknownModel = (id: string): Violation =>
  fault("model_not_found", "model", `The model "${id}" does not exist or is not for this key.`, 404);

export function modelReply(world: World, path: string, key: Key): Reply {
  const { mutant, engine } = world;
  const ids = modelIds.filter((id) => isOffered(id, key));
  const records = ids.map((id) => recordOf(id, id !== modelIds[0] || Date.now() > engine.downUntilMs));
  if (path === "/v1/models") {
    const data = mutant.models?.(records, true) ?? records;
    return { status: 200, headers: {}, body: Array.isArray(data) ? { object: "list", data } : data };
  }
  const name = decodeURIComponent(path.slice("/v1/models/".length));
  const id = idOf(name);
  const record = records.find((one) => one["id"] === id);
  if (!record) return errorReply(unknownModel(name));
  const found = mutant.models?.([record], false) ?? [record];
  return { status: 200, headers: {}, body: Array.isArray(found) ? found[0] : found };
}

export function unknownUrl(path: string): Violation {
  const message = path.startsWith("/v1/v1/")
    ? "The base URL has /v1 already: use /v1/chat/completions."
    : path.startsWith("/chat/completions")
      ? "The base URL must end in /v1."
      : "Send chat requests to POST /v1/chat/completions.";
  return fault("unknown_url", null, message, 404);
}
