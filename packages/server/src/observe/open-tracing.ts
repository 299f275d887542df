import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Histogram, Span, Tracer } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { IdGenerator, ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { ownVersion } from "./own-version.ts";
import { furtherTokens } from "./request-record.ts";
import type { RequestRecord } from "./request-record.ts";
import { formatTraceparent, readTraceparent } from "./tracing.ts";
import type { RequestTrace, SpanCounts, Tracing } from "./tracing.ts";

export interface TracingOptions {
  /** The base address of the collector's OTLP/HTTP receiver, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  /** The share of traces that are sent, from 0 to 1. A caller's `traceparent` decides for its own trace. */
  readonly ratio: number;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Called once, with the first failure to send spans. */
  readonly onFailure: (error: Error) => void;
}

/** Milliseconds for which the end of a server waits for the collector. */
const maxEndMs = 1000;

/**
 * Opens the way to a collector. The libraries read the standard variables of OpenTelemetry for everything else, such as
 * `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_EXPORTER_OTLP_HEADERS`.
 */
export function openTracing({ endpoint, ratio, nowMs, onFailure }: TracingOptions): Tracing {
  const resource = ownResource();
  const base = endpoint.endsWith("/") ? endpoint : `${endpoint}/`;
  const spans = new CountedSpans(new OTLPTraceExporter({ url: new URL("v1/traces", base).href }), onFailure);
  const ids = new ReservedIds();
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  const tracers = new TracerProvider({ resource, sampler, idGenerator: ids, spanProcessors: [spans] });
  const exporter = new OTLPMetricExporter({ url: new URL("v1/metrics", base).href });
  const meters = new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter })] });
  const tracer = tracers.getTracer("parley", ownVersion);
  const count = addHistograms(meters);
  return {
    counts: spans,
    begin: (headers, startedAtMs) => {
      // The clocks are compared for each request, because the monotonic one stands still while a machine sleeps.
      const wallOf = wallFrom(nowMs() - performance.now());
      const parent = readTraceparent(headers["traceparent"]);
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
      const span = tracer.startSpan("chat", { kind: SpanKind.SERVER, startTime: wallOf(startedAtMs) }, context);
      return new SdkTrace(span, { tracer, ids, count, wallOf });
    },
    [Symbol.asyncDispose]: async () => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxEndMs);
      await Promise.race([Promise.allSettled([tracers.shutdown(), meters.shutdown()]), late]);
      clearTimeout(timer);
    },
  };
}

/** Returns the attributes that describe this process. `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` override them. */
function ownResource(): Resource {
  const own = resourceFromAttributes({
    "service.name": "parley",
    "service.version": ownVersion,
    "service.instance.id": crypto.randomUUID(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

/** Maximum number of spans that wait for the collector. Further ones are lost. A span takes about 2 KB. */
const maxWaiting = 4096;
/** Milliseconds until spans are sent, if they do not fill a batch before. */
const batchMs = 1000;

/** Sends spans in batches, and counts those that the collector took and those that were lost. */
class CountedSpans extends BatchSpanProcessor implements SpanCounts {
  sent = 0;
  lost = 0;
  #waiting = 0;

  /** @param onFailure is called once, with the first failure */
  constructor(exporter: SpanExporter, onFailure: (error: Error) => void) {
    const send: SpanExporter["export"] = (spans, done) =>
      exporter.export(spans, (result) => {
        this.#waiting -= spans.length;
        if (result.error) this.lost += spans.length;
        else this.sent += spans.length;
        if (result.error && !hasFailed) onFailure(result.error);
        hasFailed ||= result.error !== undefined;
        done(result);
      });
    let hasFailed = false;
    const counted = { export: send, shutdown: () => exporter.shutdown() };
    super({ exporter: counted, maxQueueSize: maxWaiting, scheduledDelayMillis: batchMs });
  }

  override onEnd(span: ReadableSpan): void {
    if (this.#waiting >= maxWaiting) this.lost += 1;
    else {
      this.#waiting += 1;
      super.onEnd(span);
    }
  }
}

/** Gives the next span an id that was announced before the span began. */
class ReservedIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: string | undefined;

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.next ?? this.#random.generateSpanId();
    this.next = undefined;
    return id;
  }
}

/** Counts an ended request. */
type CountRequest = (record: RequestRecord, seconds: number) => void;

/** Returns the time on the wall clock of a time on the monotonic one. Both are in milliseconds. */
type WallOf = (elapsedMs: number) => number;

const wallFrom =
  (offsetMs: number): WallOf =>
  (elapsedMs) =>
    offsetMs + elapsedMs;

interface TraceParts {
  readonly tracer: Tracer;
  readonly ids: ReservedIds;
  readonly count: CountRequest;
  readonly wallOf: WallOf;
}

/** The span of a request is open while it runs. Its children are made at the end, when all of their times are known. */
class SdkTrace implements RequestTrace {
  readonly #span: Span;
  readonly #parts: TraceParts;
  readonly #upstreamId: string;
  readonly traceparent: string;

  constructor(span: Span, parts: TraceParts) {
    this.#span = span;
    this.#parts = parts;
    this.#upstreamId = parts.ids.generateSpanId();
    this.traceparent = formatTraceparent({ ...span.spanContext(), spanId: this.#upstreamId });
  }

  end(record: RequestRecord, status: number, durationMs: number): void {
    const endedAtMs = record.startedAtMs + durationMs;
    this.#parts.count(record, durationMs / 1000);
    if (this.#span.isRecording()) {
      this.#addChildren(record, endedAtMs);
      const attributes = attributesOf(record);
      this.#span.updateName(record.model === undefined ? "chat" : `chat ${record.model}`);
      this.#span.setAttributes({ ...attributes, ...httpOf(record, status), ...usageOf(record) });
      if (isFault(record, status)) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(this.#parts.wallOf(endedAtMs));
  }

  #addChildren({ queuedAtMs, queueWaitMs, engineEndedAtMs, ...record }: RequestRecord, endedAtMs: number): void {
    if (queuedAtMs === undefined) return;
    const { tracer, ids, wallOf } = this.#parts;
    const context = trace.setSpan(ROOT_CONTEXT, this.#span);
    const admittedAtMs = queueWaitMs === undefined ? endedAtMs : queuedAtMs + queueWaitMs;
    tracer.startSpan("queue", { startTime: wallOf(queuedAtMs) }, context).end(wallOf(admittedAtMs));
    if (queueWaitMs === undefined) return;
    ids.next = this.#upstreamId;
    const options = { kind: SpanKind.CLIENT, startTime: wallOf(admittedAtMs) };
    const upstream = tracer.startSpan("upstream", options, context);
    if (record.firstEventMs !== undefined)
      upstream.addEvent("first token", wallOf(record.startedAtMs + record.firstEventMs));
    if (record.outcome === "failed") upstream.setStatus({ code: SpanStatusCode.ERROR });
    upstream.end(wallOf(engineEndedAtMs ?? endedAtMs));
  }
}

/** A refusal is the fault of the caller, and a client that disconnects is none. */
const isFault = ({ outcome }: RequestRecord, status: number): boolean =>
  outcome === "failed" || (status >= 500 && outcome !== "cancelled");

/** The attributes of spans and histograms, from the conventions for generative AI. */
const attributesOf = ({ model, errorCode }: RequestRecord): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "parley",
  ...(model !== undefined && { "gen_ai.request.model": model }),
  ...(errorCode !== undefined && { "error.type": errorCode }),
});

const httpOf = ({ id, method, path, keyId }: RequestRecord, status: number): Attributes => ({
  "http.request.method": method,
  "http.response.status_code": status,
  "url.path": path,
  "parley.request.id": id,
  ...(keyId !== undefined && { "parley.key.id": keyId }),
});

const usageOf = (record: RequestRecord): Attributes => ({
  "gen_ai.request.stream": record.isStream,
  "gen_ai.request.choice.count": record.choices,
  "gen_ai.usage.input_tokens": record.promptTokens,
  "gen_ai.usage.cache_read.input_tokens": record.cachedTokens,
  "gen_ai.usage.output_tokens": record.completionTokens,
  "gen_ai.usage.reasoning.output_tokens": record.reasoningTokens,
  "parley.cost_usd": record.costUsd,
  "parley.outcome": record.outcome,
});

/** Adds the histograms of the conventions, with the buckets that they recommend. @returns a function that counts a request */
function addHistograms(meters: MeterProvider): CountRequest {
  const meter = meters.getMeter("parley", ownVersion);
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(`gen_ai.server.${name}`, { unit: "s", description, advice: { explicitBucketBoundaries } });
  const duration = seconds(
    "request.duration",
    "From the head of a request to the end of its answer.",
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  );
  const firstToken = seconds(
    "time_to_first_token",
    "From the head of a request to the engine's first event.",
    [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  );
  const perToken = seconds(
    "time_per_output_token",
    "Mean time of a request for each further token of a choice.",
    [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  );
  return (record, spentSeconds) => {
    const attributes = attributesOf(record);
    duration.record(spentSeconds, attributes);
    if (record.outcome !== "complete" || record.firstEventMs === undefined) return;
    const firstSeconds = record.firstEventMs / 1000;
    firstToken.record(firstSeconds, attributes);
    const further = furtherTokens(record);
    if (further >= 1) perToken.record((spentSeconds - firstSeconds) / further, attributes);
  };
}
