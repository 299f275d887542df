import type { AnswerPlan } from "../../answer/answer-parser.ts";
import type { EngineRequest, Sampling } from "../../engine.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import type { Format } from "./constrain-output.ts";
import { writeBody } from "../write-body.ts";

export interface CompletionJob {
  /** The name that the engine serves the model under. */
  readonly model: string;
  readonly request: EngineRequest;
  /** Token ids: a text would be read for special tokens, and a caller could spell one. */
  readonly prompt: readonly number[];
  readonly plan: AnswerPlan;
  readonly guide: Format | undefined;
  readonly vocabulary: Vocabulary;
  readonly endOfTurn: readonly number[];
  /** The place of this choice among those of the request. */
  readonly choice: number;
}

/** The body of one `POST /v1/completions`: one choice of a request, every member that matters written out. */
export function completionBody(job: CompletionJob): string {
  const { request, plan, guide } = job;
  const { logit_bias: _bias, ...sampling } = request.sampling;
  const body = {
    model: job.model,
    prompt: job.prompt,
    max_tokens: request.max_tokens,
    ...sampling,
    logit_bias: biasOf(job),
    stop: stopsHere(plan) ? request.stop : [],
    stop_token_ids: job.endOfTurn,
    stream: true,
    // Counted in every event, so that what breaks off half-way still has its count.
    stream_options: { include_usage: true, continuous_usage_stats: true },
    return_token_ids: true,
    ...(request.top_logprobs !== undefined && { logprobs: request.top_logprobs, return_tokens_as_token_ids: true }),
    ...(guide && {
      structured_outputs: { structural_tag: JSON.stringify({ type: "structural_tag", format: guide }) },
    }),
  };
  return writeBody(body, request, job.choice);
}

/** The engine looks for stop strings everywhere, the contract only in content: where there is more, only we look. */
const stopsHere = (plan: AnswerPlan): boolean => !plan.isReasoning && plan.tools === "off";

/** The caller's bias inside the vocabulary, where the engine refuses any other; text may not write special tokens. */
function biasOf({ request, guide, vocabulary, endOfTurn }: CompletionJob): Sampling["logit_bias"] {
  const isKnown = (id: string): boolean => /^\d+$/.test(id) && Number(id) < vocabulary.size;
  const given = Object.entries(request.sampling.logit_bias).filter(([id]) => isKnown(id));
  if (guide) return Object.fromEntries(given);
  const banned = vocabulary.specialTokenIds.filter((id) => !endOfTurn.includes(id)).map((id) => [id, -100] as const);
  return Object.fromEntries([...given, ...banned]);
}
