import type { Body, Identity } from "./answers.ts";
import { hash } from "./language.ts";
import { contextLength, modelIds, nameInAnswer } from "./models.ts";
import type { World } from "./world.ts";

/** The maximum number of tokens of a choice. */
export function maxTokensOf({ mutant }: World, body: Body, prompt: number): number {
  const asked = body[capOf(body)];
  const most = Math.min(mostTokens, contextLength - prompt);
  const maxTokens = typeof asked === "number" ? Math.min(asked, most) : most;
  return mutant.maxTokens?.(maxTokens, body) ?? maxTokens;
}

const mostTokens = 16_384;

/** The member that holds the maximum, if any. */
const capOf = (body: Body): string =>
  typeof body["max_completion_tokens"] === "number" ? "max_completion_tokens" : "max_tokens";

/** The member whose maximum is above the room left after the prompt. */
export function loweredMaximum(body: Body, prompt: number): string | undefined {
  const name = capOf(body);
  return Number(body[name] ?? 0) > Math.min(mostTokens, contextLength - prompt) ? name : undefined;
}

/** The members that identify an answer. */
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
