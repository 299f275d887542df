import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { boundSampling } from "../../bound-sampling.ts";
import type { Generation, Sampling } from "../../engine.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import type { Format } from "./constrain-output.ts";
import { RequestRefusedError } from "../../request-refused.ts";
import { membersOf } from "../fronts.ts";
import type { Front } from "../fronts.ts";
import { writeBody } from "../write-body.ts";

export interface CompletionJob {
  /** The name that the engine serves the model under. */
  readonly model: string;
  readonly request: Generation;
  /** Token ids. In a text, the engine would recognise special tokens that a caller has spelled. */
  readonly prompt: readonly number[];
  readonly plan: AnswerPlan;
  readonly constraint: Format | undefined;
  readonly vocabulary: Vocabulary;
  readonly endOfTurn: readonly number[];
  readonly cacheSalt: string | undefined;
  /** The front that the prompt is sent to. Undefined: it is sent to vLLM. */
  readonly front: Front | undefined;
  /** The number of this choice, from 0. */
  readonly choice: number;
}

/**
 * The body of one `POST /v1/completions`, which generates one choice of a request.
 * @throws {RequestRefusedError} for a constraint that the front cannot forward
 */
export function completionBody(job: CompletionJob): string {
  const { request, plan } = job;
  const { logit_bias: _bias, ...sampling } = boundSampling(request.sampling);
  const body = {
    model: job.model,
    prompt: job.prompt,
    cache_salt: job.cacheSalt,
    max_tokens: request.maxTokens,
    ...sampling,
    logit_bias: biasOf(job),
    // Dynamo refuses an empty list.
    ...(stopsHere(plan) && request.stop.length > 0 && { stop: request.stop }),
    stop_token_ids: job.endOfTurn,
    stream: true,
    // Usage in every event, so that a stream that breaks off is still counted.
    stream_options: { include_usage: true, continuous_usage_stats: true },
    ...idMembers(job),
    ...(request.topLogprobs !== undefined && { logprobs: request.topLogprobs, return_tokens_as_token_ids: true }),
    ...constraintMembers(job),
  };
  return writeBody(body, request, job.choice);
}

/** Asks for the token ids of the answer, with the other members of the front. */
function idMembers({ request, front, cacheSalt }: CompletionJob): object {
  const members = membersOf(front, request.origin, cacheSalt);
  if (front?.dialect !== "nvext") return { return_token_ids: true, ...members };
  return { nvext: { ...members.nvext, extra_fields: ["completion_token_ids"] } };
}

function constraintMembers({ constraint, front }: CompletionJob): object {
  if (!constraint) return {};
  if (front?.dialect !== "nvext") {
    return { structured_outputs: { structural_tag: JSON.stringify({ type: "structural_tag", format: constraint }) } };
  }
  if (constraint.type === "grammar") return { guided_grammar: constraint.grammar };
  throw new RequestRefusedError("This model's engine cannot be made to call functions.", { param: "tool_choice" });
}

/**
 * Decides if the engine gets the stop strings. It looks for them in the whole text, the contract only in content, so it gets
 * them only if the answer is all content.
 */
const stopsHere = (plan: AnswerPlan): boolean => !plan.isReasoning && plan.tools === "off";

/** The caller's bias, without ids outside the vocabulary, which the engine refuses. In plain text special tokens are banned. */
function biasOf({ request, constraint, vocabulary, endOfTurn }: CompletionJob): Sampling["logit_bias"] {
  const isKnown = (id: string): boolean => /^\d+$/.test(id) && Number(id) < vocabulary.size;
  const given = Object.entries(request.sampling.logit_bias).filter(([id]) => isKnown(id));
  if (constraint) return Object.fromEntries(given);
  const banned = vocabulary.specialTokenIds.filter((id) => !endOfTurn.includes(id)).map((id) => [id, -100] as const);
  return Object.fromEntries([...given, ...banned]);
}
