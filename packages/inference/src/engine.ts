import type { Schema } from "@parley/json-schema-grammar";
import type { components } from "@parley/contract/types";
import type { RefusalOptions } from "./request-refused.ts";

// Names of members are camelCase. Only types of the contract keep the names that they have on the wire: `ChatMessage`,
// `ChatTool`, and `Sampling`, whose names error messages show and drivers send to an upstream.

export type ChatMessage = components["schemas"]["ChatMessage"];
export type ChatTool = components["schemas"]["Tool"];

/** The members of a request that decide its prompt, and its caller. */
export interface PromptRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly FunctionTool[];
  /** `auto` leaves the choice to the model; a list restricts a forced call to these functions. */
  readonly toolChoice: "none" | "auto" | { readonly oneOf: readonly string[] };
  /** The line of the system message that shows `format` (see `showSchema`); undefined: the prompt does not mention it. */
  readonly shownSchema: string | undefined;
  /** True if the model should reason first. A model that was not trained for reasoning ignores it. */
  readonly isReasoning: boolean;
  /** The caller. The embedded engine lets keys take turns, and a remote engine may get the caller in headers. */
  readonly origin?: RequestOrigin;
}

/** The request that an engine prepares: the allow-listed members, already validated by the server. */
export interface EngineRequest extends PromptRequest {
  readonly parallelToolCalls: boolean;
  /** The format that the content must have. It does not apply to tool calls. */
  readonly format:
    | { readonly type: "text" }
    | { readonly type: "json_object" }
    | { readonly type: "json_schema"; readonly schema: Schema };
  /** Number of choices, 1 to 8. Either all start or none. */
  readonly n: number;
  /**
   * An int64 as digits. Choice i samples with seed + i, and its text does not depend on other running requests. Absent: a
   * random seed.
   */
  readonly seed: string | undefined;
  readonly sampling: Sampling;
  /** 0 to 4 non-empty strings, looked for in content only. */
  readonly stop: readonly string[];
  /**
   * True if the caller wants the whole answer at once. An engine may then hold events back for up to 50 ms and send them
   * together.
   */
  readonly isWhole?: boolean;
  /**
   * Token ids behind the prompt, as the beginning of the answer. Examinations use them; an engine that gets no token ids ignores
   * them.
   */
  readonly continuation?: readonly number[];
  /** The number of alternatives reported for each content token, 0 to 20; undefined: no log-probabilities. */
  readonly topLogprobs: number | undefined;
}

/** The constraints of an answer. They are known only after the request is admitted. */
export interface Constraints {
  /** Tokens per choice, at least 1, reasoning and tool calls included. Prompt + this never exceeds the context. */
  readonly maxTokens: number;
  /** The grammars of `format` and `tools`, compiled once per request. An engine compiles no schema itself. */
  readonly grammars: Grammars;
}

/** A request whose prompt is rendered, so its messages are no longer needed. */
export type RenderedRequest = Omit<EngineRequest, "messages" | "shownSchema">;

/** The parts of a request that an engine generates from, besides the prompt. */
export type Generation = RenderedRequest & Constraints;

/** The parts of a request that decide where it is sent and how its answer is read. */
export type Delivery = Pick<EngineRequest, "origin" | "isWhole">;

/** A rendered and counted prompt. It holds nothing that must be released: one that is never streamed is only garbage. */
export interface PreparedPrompt {
  /**
   * The exact number of prompt tokens, as usage will show it. For a prompt of more than twice the context, the number may be
   * too small, but it is still more than twice the context.
   */
  readonly tokens: number;
  /**
   * Yields the events of the answer, in batches of those that arrived together. Aborting the signal that the prompt was
   * prepared with, or leaving the loop, stops generation between two tokens. A prompt can be streamed once, because the
   * engine lets go of it when it has sent it.
   * @throws {EngineError} before the first event or between two events, or the signal's reason once it has aborted
   */
  stream(constraints: Constraints): AsyncGenerator<readonly EngineEvent[]>;
}

/** The structured-output constraints of one request as GBNF: plain text, which can be sent to an engine in any process. */
export interface Grammars {
  /** For the content, where the caller asked for JSON. */
  readonly contentGrammar: string | undefined;
  /** For the body of one tool call, where there are tools. */
  readonly toolGrammar: string | undefined;
  /** The names of the functions whose arguments `toolGrammar` constrains to their parameters. */
  readonly enforcedTools: readonly string[];
}

export interface RequestOrigin {
  /** The id of the caller's key, never the key. */
  readonly key: string;
  /**
   * Replaces the key where an endpoint is chosen for a conversation. A probe that compares two keys needs both on one endpoint.
   */
  readonly placedAs?: string;
  /** The caller's own id for one of their users. */
  readonly user?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
  /** The caller's own name for prompts that begin alike: `prompt_cache_key`. */
  readonly cacheKey?: string | undefined;
  /** The share of the key in a busy model. */
  readonly weight?: number | undefined;
  /** The id of the request. */
  readonly requestId?: string | undefined;
  /** The caller's `traceparent`, if it has the form of W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

export interface FunctionTool {
  readonly name: string;
  readonly description: string | undefined;
  /** Undefined: the function takes no arguments. */
  readonly parameters: Schema | undefined;
  /**
   * True: the arguments of a finished call satisfy `parameters`, or the request is rejected. Forced calls always behave like
   * this. Otherwise the arguments satisfy the schema if it can be enforced, and are any JSON object if it cannot.
   */
  readonly isStrict?: boolean | undefined;
}

/**
 * The contract's sampling parameters under their wire names. Every member is set, to the caller's value or the model's
 * default. The contract gives the ranges.
 */
export interface Sampling {
  readonly temperature: number;
  readonly top_p: number;
  /** 0: no limit. */
  readonly top_k: number;
  readonly min_p: number;
  readonly frequency_penalty: number;
  readonly presence_penalty: number;
  readonly repetition_penalty: number;
  readonly logit_bias: Readonly<Record<string, number>>;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** One token of the answer as the model wrote it. */
export interface OutputToken {
  /** Absent where an upstream engine does not report it. */
  readonly id?: number;
  readonly token: string;
  /** The raw bytes, 0 to 255 each. A character may be split over several tokens. */
  readonly bytes: readonly number[];
  /** Natural logarithm of the probability before sampling filters, at most 0. Present only where it was asked for. */
  readonly logprob?: number;
  readonly top?: readonly { readonly token: string; readonly bytes: readonly number[]; readonly logprob: number }[];
}

/** Token counters over all choices of one request. They never decrease from event to event. */
export interface EngineUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/**
 * One event of an answer. `usage` comes before the events whose tokens it counts, so a reader that stops has read nothing
 * uncounted.
 */
export type EngineEvent = ChoiceEvent | { readonly kind: "usage"; readonly usage: EngineUsage };

/**
 * One event of one choice. The order per choice: one `role`, then any number of `text`, `reasoning` and `tool`, then one
 * `finish`. The tokens of a text are missing where an upstream engine reports text only, which it may do unless
 * log-probabilities were asked for.
 */
export type ChoiceEvent = { readonly choice: number } & (
  | { readonly kind: "role" }
  | { readonly kind: "text"; readonly text: string; readonly tokens: readonly OutputToken[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "tool"; readonly index: number; readonly name?: string; readonly arguments: string }
  | { readonly kind: "finish"; readonly reason: FinishReason }
);

/** The properties of a model, known once its engine has loaded it. */
export interface EngineMetadata {
  /** The size of the context window in tokens: prompt and completion together. */
  readonly contextLength: number;
  /** The numeric format of the weights: `bf16`, `q4_k_m`, … */
  readonly quantization: string;
  /**
   * Changes whenever anything changes that can change the text: weights, engine version, template, schema prompt, sampling
   * defaults.
   */
  readonly systemFingerprint: string;
  /** The number of choices that can be generated at the same time; at least 1. */
  readonly slots: number;
  /** Extra slots beyond `slots`. A key that holds no slot may take one when all `slots` are taken. Absent means 0. */
  readonly spareSlots?: number | undefined;
  readonly canReason: boolean;
  readonly canCallTools: boolean;
  /** The values of sampling parameters that a request does not set. */
  readonly samplingDefaults: Omit<Sampling, "logit_bias">;
  /**
   * The prompt line that shows the model the schema of `format`; undefined: it is not shown, or an upstream makes the prompt.
   */
  readonly schemaPrompt?: string | undefined;
  /** Sampling parameters that the engine does not support. A request that needs one is rejected. */
  readonly unsupportedSampling?: readonly (keyof Sampling)[];
  /**
   * Set where an upstream has a prompt cache: tells if keys share it, with a clause for the operator. Absent: keys never share
   * it.
   */
  readonly promptCache?: { readonly isShared: boolean; readonly description: string } | undefined;
  /** For the operator: how the number of slots was determined. */
  readonly description: string;
}

export type EngineState = "absent" | "starting" | "loading" | "ready" | "draining" | "stopped" | "crashed" | "failed";

export interface EngineGauges {
  /** Choices that are being generated. */
  readonly running: number;
  /** Restarts since the engine was created. */
  readonly restarts: number;
  /** Requests whose generation started and did not complete, because of a hang-up or a crash. Refusals do not count. */
  readonly aborted: number;
  /** Endpoints that get no requests because they failed. Always 0 where the server runs the engine itself. */
  readonly ejected: number;
}

/**
 * One generation that an endpoint of a remote model was asked for, at its end. `refused`: the endpoint refused this request
 * only, or is full. `failed`: it counts against the endpoint. `cancelled`: nobody wanted the rest, or Parley had a shortage.
 */
export interface EndpointAttempt {
  /** Its base URL without credentials; then its address in brackets, if its name has several. */
  readonly endpoint: string;
  readonly outcome: "answered" | "refused" | "failed" | "cancelled";
  /** Milliseconds from the request to its first event; undefined: there was none. */
  readonly firstEventMs: number | undefined;
}

/** One served model. Every driver implements this interface and passes the same contract tests. */
export interface Engine {
  readonly state: EngineState;
  /** The reason for the state, for an operator; empty while the engine is healthy. */
  readonly stateReason: string;
  /** Undefined until the engine has been ready once. */
  readonly metadata: EngineMetadata | undefined;
  /**
   * Renders and counts the prompt of a request.
   * @param signal governs the answer, too
   * @throws {EngineError}, or the signal's reason once it has aborted
   */
  prepare(request: EngineRequest, signal: AbortSignal): Promise<PreparedPrompt>;
  gauges(): EngineGauges;
  /**
   * Resolves when the engine is ready, and after a crash when it is ready again. Rejects, with a sentence for the operator,
   * when the engine can never become ready.
   */
  whenReady(): Promise<void>;
  /**
   * Refuses new requests, lets running streams finish for at most `graceMs`, then stops. Resolves when the engine has
   * stopped completely. A second call can shorten the grace period of the first.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * The reason why an engine sends no (further) event. `unavailable`: no engine is running. `crashed`: it died or broke the
 * connection. `stalled`: it made no progress in time. `rejected`: it refused the request, and `message` may be shown to the
 * caller. `protocol`: it violated its protocol.
 */
export class EngineError extends Error {
  readonly kind: "unavailable" | "crashed" | "stalled" | "rejected" | "protocol";
  /** The path of the member that was refused, where it is known: `messages[0].content`. */
  readonly param: string | undefined;
  /** Milliseconds after which the upstream wants to be asked again; undefined: it has not said. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: EngineError["kind"],
    message: string,
    options: RefusalOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = "EngineError";
    this.kind = kind;
    this.param = options.param;
    this.retryAfterMs = options.retryAfterMs;
  }
}
