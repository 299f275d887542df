import type { Body, Identity } from "./answers.ts";
import { hash } from "./language.ts";
import { contextLength, modelIds, nameInAnswer } from "./models.ts";
import type { World } from "./world.ts";

/** The most tokens of a choice. */
export function maxTokensOf({ mutant }: World, body: Body, prompt: number): number {
  const asked = body["max_completion_tokens"] ?? body["max_tokens"];
  const maxTokens = Math.min(typeof asked === "number" ? asked : 16_384, contextLength - prompt);
  return mutant.maxTokens?.(maxTokens, body) ?? maxTokens;
}

/** What names an answer. */
export function identityOf(world: World, body: Body): Identity {
  world.created += 1;
  const isDown = Date.now() < world.engine.downUntilMs;
  const model = nameInAnswer(String(body["model"]));
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: isDown ? (modelIds[1] ?? model) : model,
    system_fingerprint: `fp_${hash(model).toString(16)}`,
  };
}
