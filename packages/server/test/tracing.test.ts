import { afterEach, describe, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { answerPlace, openPlace } from "@parley/inference/testing/places";
import { miniId, play, say, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestOptions } from "@parley/server/testing";
import { formatTraceparent, readTraceparent } from "../src/observe/tracing.ts";
import { openCollector, valuesOf } from "./use-collector.ts";
import type { Span } from "./use-collector.ts";
import { useFolder } from "./use-folder.ts";
import { send, startWorkers } from "./use-workers.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(options: TestOptions = {}) {
  const collector = await openCollector(closing);
  const settings = { ...options.settings, otlpEndpoint: collector.url };
  const server = await startTestServer({ ...options, settings });
  closing.push(() => server[Symbol.asyncDispose]());
  return { server, collector };
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${parentId}-01`;

describe("a traced request", () => {
  test("has a span with its model, tokens and price, and children for the queue and the engine", async () => {
    const { server, collector } = await start();
    const { usage } = await server.complete({ model: miniId, ...say("a very secret question") });
    const trace = await collector.trace(3);
    const [chat, queue, upstream] = ["chat", "queue", "upstream"].map((name) => trace.get(name));
    expect(chat).toMatchObject({ name: `chat ${miniId}`, kind: 2, status: {} });
    expect(valuesOf(chat)).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "parley",
      "gen_ai.request.model": miniId,
      "gen_ai.usage.input_tokens": usage.prompt_tokens,
      "gen_ai.usage.output_tokens": usage.completion_tokens,
      "http.response.status_code": 200,
      "parley.outcome": "complete",
      "parley.cost_usd": usage.cost_usd,
    });
    expect(valuesOf(chat)).not.toHaveProperty("error.type");
    for (const child of [queue, upstream])
      expect(child).toMatchObject({ traceId: chat?.traceId, parentSpanId: chat?.spanId });
    const nanos = (span: Span | undefined, at: "startTimeUnixNano" | "endTimeUnixNano") => BigInt(span?.[at] ?? 0);
    expect(nanos(queue, "endTimeUnixNano")).toBe(nanos(upstream, "startTimeUnixNano"));
    expect(nanos(chat, "startTimeUnixNano") <= nanos(queue, "startTimeUnixNano")).toBe(true);
    expect(nanos(upstream, "endTimeUnixNano") <= nanos(chat, "endTimeUnixNano")).toBe(true);
    expect(JSON.stringify(collector.payloads)).not.toContain("secret");
    expect(collector.payloads[0]?.resourceSpans?.[0]?.resource.attributes).toContainEqual({
      key: "service.name",
      value: { stringValue: "parley" },
    });
    await until(
      () => server.gauge('parley_spans_total{outcome="sent"}'),
      (sent) => sent === 3,
    );
  });

  test("belongs to the caller's trace, and a caller that does not sample gets none", async () => {
    const { server, collector } = await start();
    const unsampled = `00-${"1".repeat(32)}-${parentId}-00`;
    await server.complete({}, { headers: { traceparent: unsampled } });
    await server.complete({}, { headers: { traceparent } });
    const trace = await collector.trace(3);
    expect(trace.get("chat")).toMatchObject({ traceId, parentSpanId: parentId });
    expect(collector.spans().every((span) => span.traceId === traceId)).toBe(true);
  });

  test("names its refusal, which is not an error of the service", async () => {
    const { server, collector } = await start();
    await server.refuse({}, { headers: { authorization: "Bearer wrong-key-0123456789" } });
    await server.refuse({ messages: [] });
    const spans = await until(collector.spans, ({ length }) => length === 2);
    expect(spans.map(({ name, status }) => [name, status.code ?? 0])).toEqual([
      ["chat", 0],
      ["chat", 0],
    ]);
    expect(spans.map((span) => valuesOf(span)["error.type"])).toEqual(["invalid_api_key", "invalid_value"]);
  });

  test("shows a stream that failed as an error", async () => {
    const { server, collector } = await start({ scenarios: { broken: [{ text: "a" }, { crash: "it broke" }] } });
    await server.stream(play("broken"));
    const trace = await collector.trace(3);
    expect(trace.get("chat")?.status.code).toBe(2);
    expect(valuesOf(trace.get("chat"))["error.type"]).toBe("upstream_error");
    expect(trace.get("upstream")?.status.code).toBe(2);
  });

  test("has no prompt, answer, key or name of a caller, however the request ends", async () => {
    const steps = [{ text: "secret answer" }, { finish: "stop" as const }];
    const { server, collector } = await start({
      scenarios: { secret: steps, "secret-broken": [{ text: "secret" }, { crash: "secret crash" }] },
    });
    await server.complete({ ...play("secret"), user: "secret-user" });
    await server.stream(play("secret-broken"));
    await server.refuse({ model: "secret-model" });
    await server.refuse({ messages: [{ role: "secret-role", content: "x" }] });
    await server.refuse({}, { headers: { authorization: "Bearer secret-key-0123456789" } });
    await until(collector.spans, ({ length }) => length === 9);
    await server.running.close();
    const sent = JSON.stringify(collector.payloads);
    expect(sent).toContain("gen_ai.server.request.duration");
    expect(sent).not.toContain("secret");
    expect(sent).not.toContain(testKey);
  });

  test("is sent when the server stops right after it", async () => {
    const { server, collector } = await start();
    await server.complete({ max_completion_tokens: 8 });
    await server.running.close();
    expect(collector.spans().map(({ name }) => name.split(" ", 1)[0])).toEqual(["queue", "upstream", "chat"]);
  });

  test("hands its trace on to a front, which sees the span of the engine as its parent", async () => {
    const place = await openPlace(answerPlace);
    const remote = { urls: [place.url], model: "there", tokenizer: miniFolder, front: "vllm-router" } as const;
    const models = { "model-1-mini": { engine: "remote", remote } } as const;
    const { server, collector } = await start({ settings: { models } });
    await server.complete({ model: miniId, max_completion_tokens: 8 }, { headers: { traceparent } });
    const upstream = (await collector.trace(3)).get("upstream");
    expect(place.requests.at(-1)?.headers["traceparent"]).toBe(`00-${traceId}-${upstream?.spanId}-01`);
  });

  test("counts in the histograms of the conventions, which are sent at the latest when the server stops", async () => {
    const { server, collector } = await start();
    await server.complete({ max_completion_tokens: 8 });
    await collector.trace(3);
    await server.running.close();
    const metrics = collector.payloads.flatMap(({ resourceMetrics = [] }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: some }) => some)),
    );
    expect(metrics.map(({ name, histogram }) => [name, histogram.dataPoints.length])).toEqual([
      ["gen_ai.server.request.duration", 1],
      ["gen_ai.server.time_to_first_token", 1],
      ["gen_ai.server.time_per_output_token", 1],
    ]);
  });
});

describe("workers", () => {
  const folder = useFolder();
  test("send their spans themselves, and their parent adds up the numbers", async () => {
    const collector = await openCollector(closing);
    const workers = await startWorkers(folder, { PARLEY_OTLP_ENDPOINT: collector.url });
    closing.push(() => workers.server[Symbol.asyncDispose]());
    await Promise.all(Array.from({ length: 6 }, async () => (await send(workers.url)).arrayBuffer()));
    await until(collector.spans, ({ length }) => length === 18);
    await until(
      async () => (await fetch(workers.metricsUrl)).text(),
      (metrics) => metrics.includes('parley_spans_total{outcome="sent"} 18'),
    );
    expect(collector.instances().size).toBe(2);
    // The spans of the last requests are sent at the drain.
    await (await send(workers.url)).arrayBuffer();
    workers.server.child.kill("SIGTERM");
    expect(await workers.server.result()).toMatchObject({ code: 0 });
    expect(collector.spans()).toHaveLength(21);
  });
});

describe("a traceparent", () => {
  test.each([
    [traceparent, traceparent],
    [`00-${traceId}-${parentId}-00`, `00-${traceId}-${parentId}-00`],
    [`cc-${traceId}-${parentId}-01-what-the-future-will-be`, traceparent],
    [`00-${traceId}-${parentId}-01-more`, undefined],
    [`ff-${traceId}-${parentId}-01`, undefined],
    [`00-${"0".repeat(32)}-${parentId}-01`, undefined],
    [`00-${traceId}-${"0".repeat(16)}-01`, undefined],
    [traceparent.toUpperCase(), undefined],
    ["", undefined],
    [undefined, undefined],
    [[traceparent], undefined],
  ])("%s is read as %s", (header, expected) => {
    const read = readTraceparent(header);
    expect(read && formatTraceparent(read)).toBe(expected);
  });
});
