import { seedOfChoice } from "../answer/seed-of-choice.ts";
import type { Generation } from "../engine.ts";

/**
 * Returns the body of a request for one choice as JSON, with the choice's own seed. Greedy decoding needs no seed, and vLLM on
 * a CPU is safer without one (see `vllm/serve/serve-arguments.ts`).
 */
export function writeBody(body: object, { seed, sampling }: Generation, choice: number): string {
  const text = JSON.stringify(body);
  if (seed === undefined || sampling.temperature === 0) return text;
  // The seed is inserted as text, because a double cannot hold every int64.
  return `{"seed":${seedOfChoice(seed, choice)},${text.slice(1)}`;
}
