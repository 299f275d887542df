import type { IncomingHttpHeaders } from "node:http";
import type { Log } from "./log.ts";
import type { RequestRecord } from "./request-record.ts";

/** The trace of one chat request: a span `chat MODEL`, with children for its wait in the queue and for its engine. */
export interface RequestTrace {
  /** The `traceparent` for the service behind the engine. It makes spans of that service children of the span `upstream`. */
  readonly traceparent: string;
  /** Ends the trace, with the fields of the record. Neither has a prompt, an answer or a key. */
  end(record: RequestRecord, status: number, durationMs: number): void;
}

/** Number of spans since the start, by what became of them. */
export interface SpanCounts {
  readonly sent: number;
  /** The collector did not take them in time, or too many waited for it. */
  readonly lost: number;
}

/** Sends spans and histograms of requests to an OpenTelemetry collector. */
export interface Tracing extends AsyncDisposable {
  /** Its fields change while spans are sent. */
  readonly counts: SpanCounts;
  /**
   * Begins the trace of a request that has arrived. A well-formed `traceparent` of the caller becomes its parent.
   */
  begin(headers: IncomingHttpHeaders): RequestTrace;
}

/** The fields of a `traceparent`. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  readonly traceFlags: number;
}

/**
 * Reads a header of W3C Trace Context. Versions that do not exist yet may have further fields at the end.
 * @returns undefined if it is missing or malformed
 */
export function readTraceparent(value: unknown): TraceParent | undefined {
  const match = typeof value === "string" ? pattern.exec(value) : null;
  const [, version, traceId = "", spanId = "", flags = "", further] = match ?? [];
  if (version === undefined || version === "ff" || (version === "00" && further !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

export const formatTraceparent = ({ traceId, spanId, traceFlags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;

interface TracingSettings {
  readonly otlpEndpoint?: string | undefined;
  readonly traceRatio: number;
}

/** Opens the way to the collector of a configuration. @returns undefined if it names none; then no library is loaded */
export async function tracingOf(
  { otlpEndpoint, traceRatio }: TracingSettings,
  log: Pick<Log, "warn">,
  nowMs: () => number,
): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const { openTracing } = await import("./open-tracing.ts");
  const warn = ({ message }: Error): void =>
    log.warn(
      `Spans cannot be sent to ${otlpEndpoint}: ${message}. The metric parley_spans_total counts the lost ones.`,
    );
  return openTracing({ endpoint: otlpEndpoint, ratio: traceRatio, nowMs, onFailure: warn });
}
