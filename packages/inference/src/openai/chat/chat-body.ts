import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { boundSampling } from "../../bound-sampling.ts";
import type { EngineRequest, Sampling } from "../../engine.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";
import type { SystemPlacement } from "../../prompt/system-placement.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { RequestRefusedError } from "../../request-refused.ts";
import { toChatMessages, toChatTools } from "./chat-messages.ts";
import { writeBody } from "../write-body.ts";

/** How the other side is spoken to. */
export interface ChatDialect {
  /** It takes members of vLLM's own: sampling beyond OpenAI's, the template's switches, counters in every event. */
  readonly isVllm: boolean;
  /** What it was seen to do. */
  readonly capabilities: Capabilities;
  /** It is sent a `cache_salt`. */
  readonly isSalted: boolean;
  /** The template has a switch for thinking, which is on where nobody turns it off. */
  readonly hasReasoningSwitch: boolean;
  /** As the template of the configured tokenizer wants it, which prompts are counted with. */
  readonly systemPlacement: SystemPlacement;
}

export interface ChatJob {
  /** The name that the model has there. */
  readonly model: string;
  readonly request: EngineRequest;
  readonly plan: AnswerPlan;
  readonly vocabulary: Vocabulary;
  readonly dialect: ChatDialect;
  readonly cacheSalt: string | undefined;
  /** The place of this choice among those of the request. */
  readonly choice: number;
}

/**
 * The body of one `POST /v1/chat/completions`: one choice of a request, so that more than one work at temperature 0, with
 * services that make only one, and each with its own seed.
 * @throws {RequestRefusedError} for what this service is not known to take
 */
export function chatBody(job: ChatJob): string {
  const { request, plan, dialect } = job;
  const { isVllm, hasReasoningSwitch } = dialect;
  const { top_logprobs } = request;
  const body = {
    model: job.model,
    messages: toChatMessages(request.messages, dialect),
    max_tokens: request.max_tokens,
    cache_salt: job.cacheSalt,
    ...samplingOf(job),
    ...toolsOf(request, isVllm),
    ...formatOf(request.format),
    ...(stopsThere(plan, request) && { stop: request.stop }),
    ...(top_logprobs !== undefined && { logprobs: true, top_logprobs }),
    ...(isVllm && hasReasoningSwitch && { chat_template_kwargs: { enable_thinking: plan.isReasoning } }),
    stream: true,
    // Counted in every event where it can be, so that what breaks off half-way still has its count.
    stream_options: { include_usage: true, ...(isVllm && { continuous_usage_stats: true }) },
  };
  return writeBody(body, request, job.choice);
}

/**
 * It looks for stop strings everywhere, the contract only in content, and it holds back text that may become one, but not the
 * log-probabilities of that text: where there is more than text, only we look.
 */
const stopsThere = (plan: AnswerPlan, { stop, top_logprobs }: EngineRequest): boolean =>
  stop.length > 0 && !plan.isReasoning && plan.tools === "off" && top_logprobs === undefined;

/** What vLLM adds to OpenAI's members, with the values that change nothing. */
const beyondOpenAi = { top_k: 0, min_p: 0, repetition_penalty: 1 } as const satisfies Partial<Sampling>;

// Its names are those of the object.
export const namesBeyondOpenAi = Object.keys(beyondOpenAi) as readonly (keyof typeof beyondOpenAi)[];

/** What of these values only vLLM follows, or undefined. */
export const findBeyondOpenAi = (sampling: Omit<Sampling, "logit_bias">): string | undefined =>
  namesBeyondOpenAi.find((name) => sampling[name] !== beyondOpenAi[name]);

function samplingOf({ request, vocabulary, dialect }: ChatJob): object {
  const { logit_bias, top_k, min_p, repetition_penalty, ...common } = boundSampling(request.sampling);
  const isKnown = (id: string): boolean => /^\d+$/.test(id) && Number(id) < vocabulary.size;
  const bias = Object.fromEntries(Object.entries(logit_bias).filter(([id]) => isKnown(id)));
  const biased = { ...common, ...(Object.keys(bias).length > 0 && { logit_bias: bias }) };
  if (dialect.isVllm) return { ...biased, top_k, min_p, repetition_penalty };
  const missing = findBeyondOpenAi(request.sampling);
  if (missing !== undefined)
    throw new RequestRefusedError(`This model's engine has no ${missing}.`, { param: missing });
  return biased;
}

function toolsOf(request: EngineRequest, isVllm: boolean): object {
  const { tools, tool_choice, parallel_tool_calls, grammars } = request;
  if (tools.length === 0 || tool_choice === "none") return {};
  const forced = tool_choice === "auto" ? undefined : tool_choice.oneOf;
  const [only, ...others] = forced ?? [];
  const isNamed = only !== undefined && others.length === 0;
  // One is named, so that the model still reads of all; of several only those are shown that it may choose from.
  const offered = forced && !isNamed ? tools.filter(({ name }) => forced.includes(name)) : tools;
  return {
    tools: toChatTools(offered, isVllm ? grammars.enforcedTools : []),
    tool_choice: isNamed ? { type: "function", function: { name: only } } : forced ? "required" : "auto",
    parallel_tool_calls,
  };
}

function formatOf(format: EngineRequest["format"]): object {
  if (format.type === "text") return {};
  if (format.type === "json_object") return { response_format: { type: "json_object" } };
  const json_schema = { name: "answer", strict: true, schema: format.schema };
  return { response_format: { type: "json_schema", json_schema } };
}
