import type { EngineEvent, EngineUsage } from "../../engine.ts";
import type { EngineCore } from "../../child/serve.ts";
import { RequestRefused } from "../../request-refused.ts";
import type { GenerationRequest } from "../../child/protocol.ts";
import { Choice } from "./choice.ts";
import type { ChoiceDelta } from "./choice.ts";
import type { LoadedModel } from "./load-model.ts";
import { mergeChoices } from "../../answer/merge-choices.ts";
import type { PromptThreads } from "../../prompt/prompt-threads.ts";
import { foldSeed } from "./sampler.ts";

/** The engine of one model: prompt, slots, choices. */
export function llamaCore(model: LoadedModel, prompts: PromptThreads): EngineCore {
  return {
    generate: (job, signal) => generate(model, prompts, job, signal),
    countTokens: async ({ request }) => (await prompts.render(request)).tokens.length,
    status: () => ({
      running: model.slots.running,
      waiting: model.slots.waiting,
      computing: model.progress.computing,
      progress: model.progress.tokens,
    }),
  };
}

async function* generate(
  model: LoadedModel,
  prompts: PromptThreads,
  job: GenerationRequest,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const { request } = job;
  if (request.n > model.plan.slots) {
    throw new RequestRefused(`The model can generate at most ${model.plan.slots} choices at the same time.`);
  }
  const prompt = await prompts.render(request);
  assertFits(prompt.tokens.length, request.max_tokens, model.plan.contextLength);
  const slots = await model.slots.take(request.n, signal);
  try {
    const choices = slots.map((slot, index) => {
      const seed = foldSeed(request.seed, index, Math.random);
      return new Choice({ ...job, prompt, seed }, model, slot).run(signal);
    });
    const usage = countUsage(prompt.tokens.length, request.n);
    for await (const [choice, step] of mergeChoices(choices)) yield usage(choice, step);
  } finally {
    await model.slots.giveBack(slots);
  }
}

function assertFits(promptTokens: number, maxTokens: number, contextLength: number): void {
  if (promptTokens === 0)
    throw new RequestRefused("The model's chat template makes an empty prompt of these messages.");
  // llama.cpp would shift the context silently and forget the beginning of the conversation.
  if (promptTokens + maxTokens <= contextLength) return;
  throw new RequestRefused(
    `The prompt has ${promptTokens} tokens; with ${maxTokens} more it exceeds the context of ${contextLength}.`,
  );
}

/** Adds the counters up over all choices. */
function countUsage(promptTokens: number, n: number): (choice: number, step: ChoiceDelta) => EngineEvent {
  const latest: ChoiceDelta["counted"][] = Array.from({ length: n }, () => ({
    completion_tokens: 0,
    reasoning_tokens: 0,
  }));
  return (choice, { counted, ...step }) => {
    latest[choice] = counted;
    const usage: EngineUsage = {
      prompt_tokens: promptTokens,
      cached_tokens: 0,
      completion_tokens: latest.reduce((sum, one) => sum + one.completion_tokens, 0),
      reasoning_tokens: latest.reduce((sum, one) => sum + one.reasoning_tokens, 0),
    };
    return { ...step, choice, usage };
  };
}
