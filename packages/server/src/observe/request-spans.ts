import { randomFillSync } from "node:crypto";
import type { RequestRecord } from "./request-record.ts";
import { formatTraceparent } from "./tracing.ts";
import type { RequestTrace, TraceParent } from "./tracing.ts";

export interface SpanDeps {
  /** The share of traces that are sent, from 0 to 1. A caller's `traceparent` decides for its own trace. */
  readonly ratio: number;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Takes the spans of a trace: objects of OTLP's JSON, each followed by a comma. */
  readonly take: (spans: string, count: number) => void;
  /** Counts an ended request, whether its trace is sent or not. */
  readonly count: (record: RequestRecord, seconds: number) => void;
}

/** The flag of a trace that is sent. */
const sampled = 1;
/** Bits of a span's `flags`: whether its parent is known to be of another process, and whether it is. */
const [hasIsRemote, isRemote] = [0x100, 0x200];
/** The kinds of spans, and the status of an error, as numbers of OTLP. */
const kinds = { internal: 1, server: 2, client: 3 } as const;
const errorStatus = '{"code":2}';

/**
 * The trace of one request. Its spans are made at the end, when all of their times are known, and directly as text: spans of a
 * library, which are encoded later, cost several times as much and outlive V8's cheap collections.
 */
export class SpansOfRequest implements RequestTrace {
  readonly #deps: SpanDeps;
  readonly #parent: TraceParent | undefined;
  readonly #traceId: string;
  readonly #traceFlags: number;
  /** The ids of the spans, in hexadecimal. */
  readonly #spanIds: string;

  constructor(deps: SpanDeps, parent: TraceParent | undefined) {
    const random = nextRandomHex();
    this.#deps = deps;
    this.#parent = parent;
    this.#traceId = parent?.traceId ?? random.slice(0, 32);
    this.#spanIds = random.slice(32);
    const isSampled = parent ? (parent.traceFlags & sampled) !== 0 : isWithin(deps.ratio, this.#traceId);
    this.#traceFlags = isSampled ? sampled : 0;
  }

  get traceparent(): string {
    return formatTraceparent({ traceId: this.#traceId, spanId: this.#spanId(1), traceFlags: this.#traceFlags });
  }

  end(record: RequestRecord, status: number, durationMs: number): void {
    const { count, take, nowMs } = this.#deps;
    count(record, durationMs / 1000);
    if (this.#traceFlags === 0) return;
    // The clocks are compared for each request, because the monotonic one stands still while a machine sleeps.
    const offsetMs = nowMs() - performance.now();
    const { startedAtMs, model } = record;
    const endedAtMs = startedAtMs + durationMs;
    const [children, childCount] = this.#children(record, endedAtMs, offsetMs);
    const parent = this.#parent ? `,"parentSpanId":"${this.#parent.spanId}"` : "";
    const name = model === undefined ? "chat" : `chat ${model}`;
    const flags = hasIsRemote | sampled | (this.#parent ? isRemote : 0);
    const facts = `${parent},"name":${JSON.stringify(name)},"kind":${kinds.server},"flags":${flags}`;
    const own = `${facts},"status":${isFault(record, status) ? errorStatus : "{}"},"attributes":${attributesOf(record, status)}`;
    take(`${children}${this.#span(0, startedAtMs + offsetMs, endedAtMs + offsetMs, own)}`, childCount + 1);
  }

  /** Returns the spans of the queue and the engine, as far as the request has come, and their number. */
  #children(record: RequestRecord, endedAtMs: number, offsetMs: number): readonly [spans: string, count: number] {
    const { queuedAtMs, queueWaitMs, engineEndedAtMs, startedAtMs, firstEventMs, outcome } = record;
    if (queuedAtMs === undefined) return ["", 0];
    const facts = `,"parentSpanId":"${this.#spanId(0)}","flags":${hasIsRemote | sampled},"status":`;
    const queuedAt = queuedAtMs + offsetMs;
    const admittedAt = queueWaitMs === undefined ? endedAtMs + offsetMs : queuedAt + queueWaitMs;
    const queue = this.#span(2, queuedAt, admittedAt, `${facts}{},"name":"queue","kind":${kinds.internal}`);
    if (queueWaitMs === undefined) return [queue, 1];
    const first = firstEventMs === undefined ? undefined : nanos(startedAtMs + firstEventMs + offsetMs);
    const events = first === undefined ? "" : `,"events":[{"name":"first token","timeUnixNano":"${first}"}]`;
    const end = (engineEndedAtMs ?? endedAtMs) + offsetMs;
    const state = outcome === "failed" ? errorStatus : "{}";
    const more = `${facts}${state},"name":"upstream","kind":${kinds.client}${events}`;
    return [`${queue}${this.#span(1, admittedAt, end, more)}`, 2];
  }

  /** @param startMs on the wall clock, as `endMs` @param members further members, each with a comma before it */
  #span(place: number, startMs: number, endMs: number, members: string): string {
    const ids = `"traceId":"${this.#traceId}","spanId":"${this.#spanId(place)}"`;
    // A client that disconnects ends its request before the steps that do not know it yet.
    const end = nanos(Math.max(startMs, endMs));
    return `{${ids},"startTimeUnixNano":"${nanos(startMs)}","endTimeUnixNano":"${end}"${members}},`;
  }

  #spanId(place: number): string {
    return this.#spanIds.slice(place * 16, place * 16 + 16);
  }
}

/** Random bytes for the ids of many requests: a trace and three spans each. */
const bytesOfRequest = 16 + 3 * 8;
const pool = Buffer.allocUnsafe(100 * bytesOfRequest);
let used = pool.length;

function nextRandomHex(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytesOfRequest;
  return pool.toString("hex", used - bytesOfRequest, used);
}

const isWithin = (ratio: number, traceId: string): boolean => Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;

/** Returns nanoseconds since 1970. A double has no digits below a microsecond. */
const nanos = (ms: number): string => `${Math.round(ms * 1000)}000`;

/** A refusal is the fault of the caller, and a client that disconnects is none. */
const isFault = ({ outcome }: RequestRecord, status: number): boolean =>
  outcome === "failed" || (status >= 500 && outcome !== "cancelled");

const text = (key: string, value: string | undefined): string =>
  value === undefined ? "" : `,{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}`;
const int = (key: string, value: number | undefined): string =>
  value === undefined ? "" : `,{"key":"${key}","value":{"intValue":${value}}}`;
const bool = (key: string, value: boolean | undefined): string =>
  value === undefined ? "" : `,{"key":"${key}","value":{"boolValue":${value}}}`;

/** Returns the list of the attributes of a request that are known, from the conventions for generative AI and our own. */
const attributesOf = (record: RequestRecord, status: number): string =>
  `[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.provider.name","value":{"stringValue":"parley"}}${
    text("gen_ai.request.model", record.model) +
    text("error.type", record.errorCode) +
    text("http.request.method", record.method) +
    int("http.response.status_code", status) +
    text("url.path", record.path) +
    text("parley.request.id", record.id) +
    text("parley.key.id", record.keyId) +
    bool("gen_ai.request.stream", record.isStream) +
    // The conventions name it only if there are several.
    int("gen_ai.request.choice.count", record.choices === 1 ? undefined : record.choices) +
    int("gen_ai.usage.input_tokens", record.promptTokens) +
    int("gen_ai.usage.cache_read.input_tokens", record.cachedTokens) +
    int("gen_ai.usage.output_tokens", record.completionTokens) +
    int("gen_ai.usage.reasoning.output_tokens", record.reasoningTokens) +
    text("parley.cost_usd", record.costUsd) +
    text("parley.outcome", record.outcome)
  }]`;
