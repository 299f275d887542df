import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { boundSampling } from "../../bound-sampling.ts";
import type { EngineRequest, Generation, Sampling } from "../../engine.ts";
import type { ConstrainedRequest } from "../../probe.ts";
import type { Capabilities } from "../../prompt/special-tokens.ts";
import type { SystemPlacement } from "../../prompt/system-placement.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { RequestRefusedError } from "../../request-refused.ts";
import { toChatMessages, toChatTools } from "./chat-messages.ts";
import { writeBody } from "../write-body.ts";

/** The variant of the chat API that a service speaks. */
export interface ChatDialect {
  /** True: it accepts vLLM's extensions (more sampling parameters, template switches, counters in every event). */
  readonly isVllm: boolean;
  /** The capabilities that a trial has shown. */
  readonly capabilities: Capabilities;
  /** True: requests carry a `cache_salt`. */
  readonly isSalted: boolean;
  /** True: the template has a switch for reasoning, which is on by default. */
  readonly hasReasoningSwitch: boolean;
  /** The placement that the configured tokenizer's template wants. Prompts are counted with that template. */
  readonly systemPlacement: SystemPlacement;
}

export interface ChatJob {
  /** The name that the service gives the model. */
  readonly model: string;
  readonly request: ConstrainedRequest;
  readonly plan: AnswerPlan;
  readonly vocabulary: Vocabulary;
  readonly dialect: ChatDialect;
  readonly cacheSalt: string | undefined;
  /** The members for the front. */
  readonly members: object;
  /** The index of this choice, from 0. */
  readonly choice: number;
}

/**
 * Returns the body of one `POST /v1/chat/completions`, which asks for one choice. Separate requests allow several choices at
 * temperature 0, work with services that support only one choice, and give each choice its own seed.
 * @throws {RequestRefusedError} for parameters that this service is not known to support
 */
export function chatBody(job: ChatJob): string {
  const { request, plan, dialect } = job;
  const { isVllm, hasReasoningSwitch } = dialect;
  const { topLogprobs } = request;
  const body = {
    model: job.model,
    messages: toChatMessages(request.messages, dialect),
    max_tokens: request.maxTokens,
    cache_salt: job.cacheSalt,
    ...job.members,
    ...samplingOf(job),
    ...toolsOf(request, isVllm),
    ...formatOf(request.format),
    ...(stopsThere(plan, request) && { stop: request.stop }),
    ...(topLogprobs !== undefined && { logprobs: true, top_logprobs: topLogprobs }),
    ...(isVllm && hasReasoningSwitch && { chat_template_kwargs: { enable_thinking: plan.isReasoning } }),
    stream: true,
    // Usage in every event where possible, so that a stream that breaks off still has its count.
    stream_options: { include_usage: true, ...(isVllm && { continuous_usage_stats: true }) },
  };
  return writeBody(body, request, job.choice);
}

/**
 * Decides if the service gets the stop strings. A service looks for them in the whole output, the contract only in content. A
 * service also holds back text that may become a stop string, but not the log-probabilities of that text. So the service gets
 * them only for answers of plain text.
 */
const stopsThere = (plan: AnswerPlan, { stop, topLogprobs }: Generation): boolean =>
  stop.length > 0 && !plan.isReasoning && plan.tools === "off" && topLogprobs === undefined;

/** The sampling members that vLLM adds to OpenAI's, with their neutral values. */
const beyondOpenAi = { top_k: 0, min_p: 0, repetition_penalty: 1 } as const satisfies Partial<Sampling>;

// `Object.keys` returns exactly the names of this object.
export const namesBeyondOpenAi = Object.keys(beyondOpenAi) as readonly (keyof typeof beyondOpenAi)[];

/** Returns the members that only vLLM supports and that are not neutral, or undefined. */
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

function toolsOf(request: Generation, isVllm: boolean): object {
  const { tools, toolChoice, parallelToolCalls, grammars } = request;
  if (tools.length === 0 || toolChoice === "none") return {};
  const forced = toolChoice === "auto" ? undefined : toolChoice.oneOf;
  const [only, ...others] = forced ?? [];
  const isNamed = only !== undefined && others.length === 0;
  // A single function is forced by name, and the model still sees all tools. If it may choose among several, it sees only
  // those.
  const offered = forced && !isNamed ? tools.filter(({ name }) => forced.includes(name)) : tools;
  return {
    tools: toChatTools(offered, isVllm ? grammars.enforcedTools : []),
    tool_choice: isNamed ? { type: "function", function: { name: only } } : forced ? "required" : "auto",
    parallel_tool_calls: parallelToolCalls,
  };
}

function formatOf(format: EngineRequest["format"]): object {
  if (format.type === "text") return {};
  if (format.type === "json_object") return { response_format: { type: "json_object" } };
  const json_schema = { name: "answer", strict: true, schema: format.schema };
  return { response_format: { type: "json_schema", json_schema } };
}
