import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import { InstrumentType, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { ownVersion } from "./own-version.ts";
import { RequestHistograms } from "./request-histograms.ts";
import { SpansOfRequest } from "./request-spans.ts";
import type { SpanDeps } from "./request-spans.ts";
import { SpanBatches } from "./span-batches.ts";
import { readTraceparent } from "./tracing.ts";
import type { Tracing } from "./tracing.ts";

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
  const spans = new SpanBatches({ url: new URL("v1/traces", base).href, around: aroundSpans(resource), onFailure });
  const exporter = new OTLPMetricExporter({ url: new URL("v1/metrics", base).href });
  const temporality = exporter.selectAggregationTemporality(InstrumentType.HISTOGRAM);
  const histograms = new RequestHistograms({ resource, nowMs, temporality });
  const reader = new PeriodicExportingMetricReader({ exporter, metricProducers: [histograms] });
  const meters = new MeterProvider({ resource, readers: [reader] });
  const deps: SpanDeps = {
    ratio,
    nowMs,
    take: (texts, count) => spans.take(texts, count),
    count: (record, seconds) => histograms.count(record, seconds),
  };
  return {
    counts: spans,
    begin: ({ traceparent }) => new SpansOfRequest(deps, readTraceparent(traceparent)),
    [Symbol.asyncDispose]: async () => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxEndMs);
      await Promise.race([Promise.allSettled([spans.close(), meters.shutdown()]), late]);
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

/** Returns the text of a request to the collector before and after the spans. */
function aroundSpans({ attributes }: Resource): readonly [before: string, after: string] {
  const known = Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: String(value) } }));
  const scope = { name: "parley", version: ownVersion };
  const request = { resourceSpans: [{ resource: { attributes: known }, scopeSpans: [{ scope, spans: [] }] }] };
  const whole = JSON.stringify(request);
  const end = whole.lastIndexOf("[]") + 1;
  return [whole.slice(0, end), whole.slice(end)];
}
