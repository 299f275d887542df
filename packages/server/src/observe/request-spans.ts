import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import type { Attributes, HrTime, SpanContext } from "@opentelemetry/api";
import { RandomIdGenerator, SamplingDecision } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, Sampler } from "@opentelemetry/sdk-trace";
import type { RequestRecord } from "./request-record.ts";
import { formatTraceparent } from "./tracing.ts";
import type { RequestTrace, TraceParent } from "./tracing.ts";

/** Returns the time on the wall clock of a time on the monotonic one. Both are in milliseconds. */
export type WallOf = (elapsedMs: number) => number;

export interface SpanDeps {
  /** The parts that all spans have. */
  readonly shared: Pick<ReadableSpan, "resource" | "instrumentationScope">;
  /** Decides whether the trace of a request without a `traceparent` is sent. */
  readonly sampler: Pick<Sampler, "shouldSample">;
  /** Takes each span that has ended. */
  readonly take: (span: ReadableSpan) => void;
  /** Counts an ended request, whether its trace is sent or not. */
  readonly count: (record: RequestRecord, seconds: number) => void;
}

const ids = new RandomIdGenerator();

/**
 * The trace of one request. Its spans are made at the end, when all of their times are known: plain objects cost a fraction of
 * the spans of a tracer, which can change while they are open.
 */
export class SpansOfRequest implements RequestTrace {
  readonly #deps: SpanDeps;
  readonly #wallOf: WallOf;
  readonly #parent: SpanContext | undefined;
  readonly #own: SpanContext;
  readonly #upstream: SpanContext;

  constructor(deps: SpanDeps, parent: TraceParent | undefined, wallOf: WallOf) {
    this.#deps = deps;
    this.#wallOf = wallOf;
    this.#parent = parent && { ...parent, isRemote: true };
    const traceId = parent?.traceId ?? ids.generateTraceId();
    const isSampled = parent ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : isWanted(deps.sampler, traceId);
    const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    this.#own = { traceId, spanId: ids.generateSpanId(), traceFlags };
    this.#upstream = { traceId, spanId: ids.generateSpanId(), traceFlags };
  }

  get traceparent(): string {
    return formatTraceparent(this.#upstream);
  }

  end(record: RequestRecord, status: number, durationMs: number): void {
    const { count, take } = this.#deps;
    count(record, durationMs / 1000);
    if ((this.#own.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const endedAtMs = record.startedAtMs + durationMs;
    this.#takeChildren(record, endedAtMs);
    const span = this.#span(this.#own, record.startedAtMs, endedAtMs, {
      name: record.model === undefined ? "chat" : `chat ${record.model}`,
      kind: SpanKind.SERVER,
      isError: isFault(record, status),
      attributes: attributesOf(record, status),
    });
    take(this.#parent ? { ...span, parentSpanContext: this.#parent } : span);
  }

  #takeChildren(record: RequestRecord, endedAtMs: number): void {
    const { queuedAtMs, queueWaitMs, engineEndedAtMs, startedAtMs, firstEventMs } = record;
    if (queuedAtMs === undefined) return;
    const { take } = this.#deps;
    const parentSpanContext = this.#own;
    const queue = { ...this.#own, spanId: ids.generateSpanId() };
    const admittedAtMs = queueWaitMs === undefined ? endedAtMs : queuedAtMs + queueWaitMs;
    take({ ...this.#span(queue, queuedAtMs, admittedAtMs, { name: "queue" }), parentSpanContext });
    if (queueWaitMs === undefined) return;
    const upstream = this.#span(this.#upstream, admittedAtMs, engineEndedAtMs ?? endedAtMs, {
      name: "upstream",
      kind: SpanKind.CLIENT,
      isError: record.outcome === "failed",
      firstTokenAtMs: firstEventMs === undefined ? undefined : startedAtMs + firstEventMs,
    });
    take({ ...upstream, parentSpanContext });
  }

  /** @param startedAtMs on the monotonic clock, as `endedAtMs` */
  #span(context: SpanContext, startedAtMs: number, endedAtMs: number, facts: SpanFacts): ReadableSpan {
    const { name, kind = SpanKind.INTERNAL, isError = false, attributes = {}, firstTokenAtMs } = facts;
    const { shared } = this.#deps;
    const wallOf = this.#wallOf;
    // A client that disconnects ends its request before the steps that do not know it yet.
    const durationMs = Math.max(0, endedAtMs - startedAtMs);
    return {
      name,
      kind,
      spanContext: () => context,
      startTime: toHrTime(wallOf(startedAtMs)),
      endTime: toHrTime(wallOf(startedAtMs + durationMs)),
      duration: toHrTime(durationMs),
      ended: true,
      status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      attributes,
      events: firstTokenAtMs === undefined ? [] : [{ name: "first token", time: toHrTime(wallOf(firstTokenAtMs)) }],
      links: [],
      resource: shared.resource,
      instrumentationScope: shared.instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }
}

interface SpanFacts {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly isError?: boolean;
  readonly attributes?: Attributes;
  /** On the monotonic clock. */
  readonly firstTokenAtMs?: number | undefined;
}

const isWanted = (sampler: SpanDeps["sampler"], traceId: string): boolean =>
  sampler.shouldSample(ROOT_CONTEXT, traceId, "chat", SpanKind.SERVER, {}, []).decision ===
  SamplingDecision.RECORD_AND_SAMPLED;

/** Returns seconds and nanoseconds. */
const toHrTime = (ms: number): HrTime => [Math.trunc(ms / 1000), Math.trunc((ms % 1000) * 1e6)];

/** A refusal is the fault of the caller, and a client that disconnects is none. */
const isFault = ({ outcome }: RequestRecord, status: number): boolean =>
  outcome === "failed" || (status >= 500 && outcome !== "cancelled");

/** The attributes that spans and histograms share, from the conventions for generative AI. */
export const sharedAttributes = ({ model, errorCode }: RequestRecord): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "parley",
  ...(model !== undefined && { "gen_ai.request.model": model }),
  ...(errorCode !== undefined && { "error.type": errorCode }),
});

/** Returns the attributes of a request that are known. */
function attributesOf(record: RequestRecord, status: number): Attributes {
  const attributes = sharedAttributes(record);
  const others: Attributes = {
    "http.request.method": record.method,
    "http.response.status_code": status,
    "url.path": record.path,
    "parley.request.id": record.id,
    "parley.key.id": record.keyId,
    "gen_ai.request.stream": record.isStream,
    // The conventions name it only if there are several.
    "gen_ai.request.choice.count": record.choices === 1 ? undefined : record.choices,
    "gen_ai.usage.input_tokens": record.promptTokens,
    "gen_ai.usage.cache_read.input_tokens": record.cachedTokens,
    "gen_ai.usage.output_tokens": record.completionTokens,
    "gen_ai.usage.reasoning.output_tokens": record.reasoningTokens,
    "parley.cost_usd": record.costUsd,
    "parley.outcome": record.outcome,
  };
  for (const [name, value] of Object.entries(others)) if (value !== undefined) attributes[name] = value;
  return attributes;
}
