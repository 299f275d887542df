import { emptyResource } from "@opentelemetry/resources";
import { AggregationTemporality } from "@opentelemetry/sdk-metrics";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RequestRecord } from "@parley/server/testing";
import { openTracing } from "../src/observe/open-tracing.ts";
import { RequestHistograms } from "../src/observe/request-histograms.ts";
import { openCollector, valuesOf } from "./use-collector.ts";

/** The requests to the collector: our own code writes the spans and counts the histograms. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  vi.unstubAllEnvs();
});

async function start() {
  const collector = await openCollector(closing);
  const onFailure = (error: Error): void => expect(error).toBeUndefined();
  const tracing = openTracing({ endpoint: collector.url, ratio: 1, nowMs: Date.now, onFailure });
  return { collector, tracing };
}

const refused: RequestRecord = { id: "req_1", method: "POST", path: "/v1", client: "", startedAtMs: 0 };

describe("a request to the collector", () => {
  test("keeps texts with any characters, and the resource of the environment", async () => {
    const odd = 'a "quote", a \\, a line\n, \u{1f980} and half of one \ud83e';
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "team=%22quoted%22");
    const { collector, tracing } = await start();
    tracing.begin({}).end({ ...refused, model: odd, path: odd }, 404, 1);
    await tracing[Symbol.asyncDispose]();
    const [span] = collector.spans();
    expect(span?.name).toBe(`chat ${odd}`);
    expect(valuesOf(span)).toMatchObject({ "gen_ai.request.model": odd, "url.path": odd });
    const resource = collector.payloads[0]?.resourceSpans?.[0]?.resource;
    expect(resource && valuesOf(resource)).toMatchObject({ "service.name": "parley", team: '"quoted"' });
  });

  test("has fewer spans if they are long", async () => {
    const { collector, tracing } = await start();
    const long = { ...refused, model: "m".repeat(100_000) };
    for (let ended = 0; ended < 10; ended += 1) tracing.begin({}).end(long, 404, 1);
    await tracing[Symbol.asyncDispose]();
    expect(tracing.counts).toMatchObject({ sent: 10, lost: 0 });
    expect(collector.payloads.filter(({ resourceSpans }) => resourceSpans).length).toBeGreaterThan(1);
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(10);
  });

  test("has the time of a span to the microsecond", async () => {
    const { collector, tracing } = await start();
    tracing.begin({}).end({ ...refused, startedAtMs: performance.now() }, 404, 1.25);
    await tracing[Symbol.asyncDispose]();
    const [span] = collector.spans();
    const nanos = BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0);
    expect(Number(nanos) / 1000).toBeCloseTo(1250, -1);
  });
});

describe("the histograms", () => {
  const answered: RequestRecord = {
    ...refused,
    model: "m",
    firstEventMs: 40,
    completionTokens: 11,
    choices: 1,
    outcome: "complete",
  };
  /** Returns the points of the histogram in the last request. */
  const pointsOf = (payloads: Awaited<ReturnType<typeof openCollector>>["payloads"], name: string) =>
    payloads
      .findLast(({ resourceMetrics }) => resourceMetrics)
      ?.resourceMetrics?.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .find((metric) => metric.name === `gen_ai.server.${name}`)?.histogram.dataPoints;

  test("count each value in the bucket whose upper bound is the first that is not below it", async () => {
    const { collector, tracing } = await start();
    for (const spentMs of [40, 40.1, 140, 100_000]) tracing.begin({}).end(answered, 200, spentMs);
    tracing.begin({}).end({ ...refused, errorCode: "invalid_value" }, 400, 1);
    await tracing[Symbol.asyncDispose]();
    const ofModel = { count: 4, min: 0.04, max: 100 };
    const durations = pointsOf(collector.payloads, "request.duration");
    expect(durations).toMatchObject([ofModel, { count: 1 }]);
    expect(durations?.[0]).toMatchObject({ bucketCounts: [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] });
    expect(pointsOf(collector.payloads, "time_to_first_token")).toMatchObject([{ count: 4, min: 0.04 }]);
    expect(pointsOf(collector.payloads, "time_per_output_token")).toMatchObject([{ count: 4, min: 0 }]);
  });

  test("start again after each request to a collector that wants differences", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta");
    const { collector, tracing } = await start();
    tracing.begin({}).end(answered, 200, 50);
    await tracing[Symbol.asyncDispose]();
    expect(JSON.stringify(collector.payloads)).toContain('"aggregationTemporality":1');
    expect(JSON.stringify(collector.payloads)).not.toContain('"aggregationTemporality":2');
    let nowMs = 1000;
    const temporality = AggregationTemporality.DELTA;
    const histograms = new RequestHistograms({ resource: emptyResource(), nowMs: () => nowMs, temporality });
    const read = async () => {
      nowMs += 1000;
      const { scopeMetrics } = (await histograms.collect()).resourceMetrics;
      return scopeMetrics.flatMap(({ metrics }) => metrics.map(({ dataPoints }) => dataPoints));
    };
    histograms.count(refused, 1);
    expect(await read()).toMatchObject([[{ startTime: [1, 0], endTime: [2, 0], value: { count: 1 } }]]);
    expect(await read()).toEqual([]);
    histograms.count(refused, 1);
    expect(await read()).toMatchObject([[{ startTime: [3, 0], endTime: [4, 0], value: { count: 1 } }]]);
  });
});
