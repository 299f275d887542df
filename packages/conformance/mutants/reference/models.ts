import { errorReply } from "./edge.ts";
import type { Key } from "./keys.ts";
import type { Reply } from "./mutant.ts";
import type { World } from "./world.ts";
import { fault } from "./violation.ts";
import type { Violation } from "./violation.ts";

export const contextLength = 32_768;
const maximum = 16_384;
export const prices = {
  prompt: "0.0000003",
  completion: "0.0000006",
  image: "0",
  request: "0.00001",
  input_cache_read: "0.00000007",
};

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
/** The id behind an alias, or behind a name without its vendor prefix. */
export const idOf = (name: string): string =>
  modelIds.find((id) => aliases[id]?.includes(name) ?? id.endsWith(`/${name}`)) ?? name;

/** The model name in an answer. */
export const nameInAnswer = (name: string): string =>
  Object.values(aliases).some((names) => names.includes(name)) ? name : idOf(name);

/** Returns whether a key may use the model with this name: its id, an alias, or its id without the vendor prefix. */
export function isOffered(name: string, { rules }: Key): boolean {
  const id = idOf(name);
  return modelIds.includes(id) && (rules.models?.includes(id) ?? true);
}

export function unknownModel(name: string, key: Key): Violation {
  const offered = modelIds.filter((id) => isOffered(id, key));
  const nearest = offered.findLast((id) => name.startsWith(id)) ?? offered[0];
  const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  return fault("model_not_found", "model", `The model "${name}" does not exist or is not for this key.${hint}`, 404);
}

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
  if (!record) return errorReply(unknownModel(name, key));
  const found = mutant.models?.([record], false) ?? [record];
  return { status: 200, headers: {}, body: Array.isArray(found) ? found[0] : found };
}

export function unknownUrl(path: string): Violation {
  const message =
    /\bchat\b.*completions/i.test(path) && !path.startsWith("/chat")
      ? "Use /v1/chat/completions: the base URL ends in /v1."
      : path.startsWith("/chat/completions")
        ? "The base URL must end in /v1."
        : "Send chat requests to POST /v1/chat/completions.";
  return fault("unknown_url", null, message, 404);
}
