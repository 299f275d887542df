import { mergeChoices } from "../answer/merge-choices.ts";
import type { EngineEvent, EngineRequest, EngineUsage } from "../engine.ts";
import { RequestRefused } from "../request-refused.ts";
import type { ChoiceDelta } from "./choice-delta.ts";
import { asEngineError } from "./engine-failure.ts";
import type { Limits } from "./protocol-adapter.ts";

/**
 * Starts all choices at once, and stops all of them when one fails.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export async function* runChoices(
  n: number,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<readonly AsyncGenerator<ChoiceDelta>[]>,
): AsyncGenerator<EngineEvent> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    signal.throwIfAborted();
    const choices = await begin(either);
    const usage = addUp(n);
    for await (const [choice, { counted, ...step }] of mergeChoices(choices, () => stop.abort())) {
      yield { ...step, choice, usage: usage(choice, counted) };
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : asEngineError(error);
  } finally {
    stop.abort();
  }
}

/** The engine itself would cut the answer without a word. */
export function assertFits(promptTokens: number, { n, max_tokens }: EngineRequest, limits: Limits): void {
  if (promptTokens === 0) {
    throw new RequestRefused("The model's chat template makes an empty prompt of these messages.");
  }
  if (!limits) return;
  if (n > limits.slots) {
    throw new RequestRefused(`The model can generate at most ${limits.slots} choices at the same time.`);
  }
  if (promptTokens + max_tokens <= limits.context_length) return;
  throw new RequestRefused(
    `The prompt has ${promptTokens} tokens; with ${max_tokens} more it exceeds the context of ${limits.context_length}.`,
  );
}

/** Adds the counters up over all choices; the prompt, which all of them share, counts once. */
function addUp(n: number): (choice: number, counted: ChoiceDelta["counted"]) => EngineUsage {
  const nothing = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };
  const latest: ChoiceDelta["counted"][] = Array.from({ length: n }, () => nothing);
  return (choice, counted) => {
    latest[choice] = counted;
    const sum = (name: keyof EngineUsage): number => latest.reduce((total, one) => total + one[name], 0);
    return {
      prompt_tokens: counted.prompt_tokens,
      cached_tokens: latest[0]?.cached_tokens ?? 0,
      completion_tokens: sum("completion_tokens"),
      reasoning_tokens: sum("reasoning_tokens"),
    };
  };
}
