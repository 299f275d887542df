import { mergeChoices } from "../answer/merge-choices.ts";
import { planAnswer } from "../answer/plan-answer.ts";
import type { EngineEvent, EngineRequest, EngineUsage } from "../engine.ts";
import { RequestRefused } from "../request-refused.ts";
import { compileGrammars } from "../schema/compile-grammars.ts";
import { completionBody } from "./dialect/completion-body.ts";
import { asEngineError } from "./dialect/engine-failure.ts";
import { guideFor } from "./dialect/guide.ts";
import { ChoiceReader } from "./dialect/read-choice.ts";
import type { ChoiceDelta } from "./dialect/read-choice.ts";
import { readCompletion } from "./dialect/read-completion.ts";
import type { OpenModel } from "./model/open-model.ts";
import type { Upstream } from "./upstream.ts";

/** What a generation needs of its engine. */
export interface Served {
  readonly model: OpenModel;
  /** The name that the engine serves the model under. */
  readonly servedName: string;
  readonly upstream: Upstream;
  /** Undefined before the engine has said how much it can do. */
  readonly limits: { readonly context_length: number; readonly slots: number } | undefined;
}

/**
 * One request: a completion of its own for every choice.
 * @throws {EngineError}, or the signal's reason once it has aborted
 */
export const generate = (served: Served, request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> =>
  runChoices(request.n, signal, (either) => beginChoices(served, request, either));

/**
 * Choices that are all begun at once, and all given up when one fails.
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

async function beginChoices(
  { model, servedName, upstream, limits }: Served,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<AsyncGenerator<ChoiceDelta>[]> {
  const grammars = compileGrammars(request);
  const { tokens, opensInReasoning } = await model.prompts.render(request);
  assertFits(tokens.length, request, limits);
  const { capabilities, vocabulary, endOfTurn } = model.folder;
  const plan = planAnswer(request, capabilities);
  const guide = guideFor({ plan, grammars, vocabulary, opensInReasoning });
  const job = { model: servedName, request, prompt: tokens, plan, guide, vocabulary, endOfTurn };
  return Array.from({ length: request.n }, (_, choice) => {
    const events = upstream.stream("/v1/completions", completionBody({ ...job, choice }), signal, request.origin);
    const reader = new ChoiceReader(plan, opensInReasoning, model, request.top_logprobs);
    return reader.read(readCompletion(events, tokens.length));
  });
}

/** The engine itself would cut the answer without a word. */
export function assertFits(promptTokens: number, { n, max_tokens }: EngineRequest, limits: Served["limits"]): void {
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
