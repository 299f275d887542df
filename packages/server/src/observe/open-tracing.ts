import type { Histogram } from "@opentelemetry/api";
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
import { BatchSpanProcessor, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { ownVersion } from "./own-version.ts";
import { furtherTokens } from "./request-record.ts";
import { sharedAttributes, SpansOfRequest } from "./request-spans.ts";
import type { SpanDeps } from "./request-spans.ts";
import { readTraceparent } from "./tracing.ts";
import type { SpanCounts, Tracing } from "./tracing.ts";

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
  const exporter = new OTLPMetricExporter({ url: new URL("v1/metrics", base).href });
  const meters = new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter })] });
  const deps: SpanDeps = {
    shared: { resource, instrumentationScope: { name: "parley", version: ownVersion } },
    sampler: new TraceIdRatioBasedSampler(ratio),
    take: (span) => spans.onEnd(span),
    count: addHistograms(meters),
  };
  return {
    counts: spans,
    begin: ({ traceparent }) => {
      // The clocks are compared for each request, because the monotonic one stands still while a machine sleeps.
      const offsetMs = nowMs() - performance.now();
      return new SpansOfRequest(deps, readTraceparent(traceparent), (elapsedMs) => offsetMs + elapsedMs);
    },
    [Symbol.asyncDispose]: async () => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxEndMs);
      await Promise.race([Promise.allSettled([spans.shutdown(), meters.shutdown()]), late]);
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
/** Spans of a batch. Each batch costs a request; a larger one would block the event loop for more than 4 ms. */
const maxBatch = 1024;
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
    super({ exporter: counted, maxQueueSize: maxWaiting, scheduledDelayMillis: batchMs, maxExportBatchSize: maxBatch });
  }

  override onEnd(span: ReadableSpan): void {
    if (this.#waiting >= maxWaiting) this.lost += 1;
    else {
      this.#waiting += 1;
      super.onEnd(span);
    }
  }
}

/** Adds the histograms of the conventions, with the buckets that they recommend. @returns a function that counts a request */
function addHistograms(meters: MeterProvider): SpanDeps["count"] {
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
    const attributes = sharedAttributes(record);
    duration.record(spentSeconds, attributes);
    if (record.outcome !== "complete" || record.firstEventMs === undefined) return;
    const firstSeconds = record.firstEventMs / 1000;
    firstToken.record(firstSeconds, attributes);
    const further = furtherTokens(record);
    if (further >= 1) perToken.record((spentSeconds - firstSeconds) / further, attributes);
  };
}
