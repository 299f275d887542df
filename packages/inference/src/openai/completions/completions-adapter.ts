import { assertFits } from "../../answer/assert-fits.ts";
import type { Limits } from "../../answer/assert-fits.ts";
import { planAnswer } from "../../answer/plan-answer.ts";
import type { EngineEvent, EngineRequest } from "../../engine.ts";
import { expectToken, probeRequest } from "../../probe.ts";
import type { ProtocolAdapter, ServedModel } from "../protocol-adapter.ts";
import { tryPromptCache, unsalted, withPromptCache } from "../cache-salt.ts";
import { runChoices } from "../run-choices.ts";
import type { OpeningChoice } from "../run-choices.ts";
import { completionBody } from "./completion-body.ts";
import { constraintFor } from "./constrain-output.ts";
import { CompletionChoiceReader } from "./read-choice.ts";

/** Sends requests as token ids to `/v1/completions` of vLLM or its routers: a separate completion for every choice. */
export const completionsAdapter: ProtocolAdapter = {
  generate: (served, limits, request, signal) =>
    runChoices(request.n, signal, (either) => beginChoices(served, limits, request, either)),
  probeReadiness: async (served, metadata, signal) => {
    const ask = (request: EngineRequest): AsyncIterable<readonly EngineEvent[]> =>
      completionsAdapter.generate(served, undefined, request, signal);
    await expectToken(ask(probeRequest));
    return withPromptCache(metadata, served.saltOf ? await tryPromptCache(metadata.contextLength, ask) : unsalted);
  },
};

async function beginChoices(
  { model, servedName, upstream, saltOf }: ServedModel,
  limits: Limits,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<OpeningChoice[]> {
  const prompt = await model.prompts.render(request, signal);
  const { tokens, opensInReasoning } = prompt;
  assertFits(tokens.length, request, limits);
  const { capabilities, vocabulary, endOfTurn } = model.folder;
  const plan = planAnswer(request, capabilities);
  const constraint = constraintFor({ plan, grammars: request.grammars, vocabulary, opensInReasoning });
  const cacheSalt = saltOf?.(request.origin);
  const job = { model: servedName, request, prompt: tokens, plan, constraint, vocabulary, endOfTurn, cacheSalt };
  return Array.from({ length: request.n }, (_, choice) => ({
    open: () => upstream.open("/v1/completions", completionBody({ ...job, choice }), signal, request),
    reader: new CompletionChoiceReader({
      plan,
      prompt,
      model,
      topLogprobs: request.topLogprobs,
      isWhole: request.isWhole,
    }),
  }));
}
