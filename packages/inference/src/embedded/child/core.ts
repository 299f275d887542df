import type { EngineEvent, EngineRequest } from "../../engine.ts";
import type { EngineCore } from "../../child/serve.ts";
import { Choice } from "./choice.ts";
import type { LoadedModel } from "./load-model.ts";
import { assertFits } from "../../answer/assert-fits.ts";
import { combineChoices } from "../../answer/combine-choices.ts";
import type { PromptThreads } from "../../prompt/prompt-threads.ts";
import { foldSeed } from "./sampler.ts";

/** Generates with one model: renders the prompt, takes slots, runs the choices. */
export function llamaCore(model: LoadedModel, prompts: PromptThreads): EngineCore {
  return {
    generate: (request, signal) => generate(model, prompts, request, signal),
    countTokens: async (request) => (await prompts.render(request)).tokens.length,
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
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const prompt = await prompts.render(request);
  assertFits(prompt.tokens.length, request, { context_length: model.plan.contextLength, slots: model.plan.slots });
  const slots = await model.slots.take(request.n, signal);
  try {
    const choices = slots.map((slot, index) => {
      const seed = foldSeed(request.seed, index, Math.random);
      return new Choice({ request, prompt, seed }, model, slot).run(signal);
    });
    yield* combineChoices(choices);
  } finally {
    await model.slots.release(slots);
  }
}
