import { describe, expect, test } from "vitest";
import { TimeoutError } from "../src/index.ts";
import { connect, errorOf, hello, textOf } from "./ask.ts";
import { answer, completion, fail, reset, stall, startStub, stream, wholeStream } from "./stub-server.ts";

/** Headers that name a short wait, so a test does not wait for a random pause. */
const soon = { "retry-after-ms": "1" };

describe("create()", () => {
  test.each([
    [408, "request_timeout"],
    [429, "rate_limit_exceeded"],
    [429, "capacity_exhausted"],
    [500, "internal_error"],
    [502, "upstream_error"],
    [503, "service_unavailable"],
    [504, "timeout"],
    [502, null],
  ])("repeats after %i %s", async (status, code) => {
    await using stub = await startStub(fail(status, code, soon), fail(status, code, soon), answer(200, completion));
    expect(await connect(stub.baseURL).create(hello)).toEqual(completion);
    expect(stub.requests.map(({ body }) => body)).toEqual(Array(3).fill(stub.requests[0]?.body));
  });

  test.each([
    [400, "invalid_value"],
    [401, "invalid_api_key"],
    [402, "insufficient_quota"],
    [404, "model_not_found"],
    [413, "request_too_large"],
    [409, null],
  ])("repeats nothing after %i %s", async (status, code) => {
    await using stub = await startStub(fail(status, code, soon));
    expect(await errorOf(connect(stub.baseURL).create(hello))).toMatchObject({ status, code });
    expect(stub.requests).toHaveLength(1);
  });

  test("repeats after a broken connection, and gives up after two retries", async () => {
    await using healed = await startStub(reset, answer(200, completion));
    expect(await connect(healed.baseURL).create(hello)).toEqual(completion);
    await using broken = await startStub(fail(500, "internal_error", soon));
    expect(await errorOf(connect(broken.baseURL).create(hello))).toMatchObject({ code: "internal_error" });
    expect(broken.requests).toHaveLength(3);
  });

  test.each([0, 1, 4])("makes at most %i retries, set for a client or for a call", async (maxRetries) => {
    await using stub = await startStub(fail(503, "service_unavailable", soon));
    await errorOf(connect(stub.baseURL, { maxRetries }).create(hello));
    expect(stub.requests).toHaveLength(maxRetries + 1);
    await errorOf(connect(stub.baseURL, { maxRetries: 9 }).models({ maxRetries }));
    expect(stub.requests).toHaveLength(2 * (maxRetries + 1));
  });

  test.each([
    ["the service says so", { ...soon, "x-should-retry": "false" }],
    ["the wait is longer than a minute", { "retry-after": "61" }],
    ["the wait is longer than the caller's time limit", { "retry-after": "30" }],
  ])("repeats nothing when %s", async (_title, headers) => {
    await using stub = await startStub(fail(429, "rate_limit_exceeded", headers));
    const error = await errorOf(connect(stub.baseURL, { timeoutMs: 10_000 }).create(hello));
    expect(error).toMatchObject({ code: "rate_limit_exceeded" });
    expect(stub.requests).toHaveLength(1);
  });

  test("waits as long as the service asks", async () => {
    // A client that believed `retry-after` would give up: it never waits for more than a minute.
    await using stub = await startStub(
      fail(429, "capacity_exhausted", { "retry-after-ms": "200", "retry-after": "61" }),
      answer(200, completion),
    );
    const startedMs = performance.now();
    await connect(stub.baseURL).create(hello);
    expect(performance.now() - startedMs).toBeGreaterThan(195);
  });

  test("a signal ends a pause", async () => {
    await using stub = await startStub(fail(429, "capacity_exhausted", { "retry-after": "30" }));
    const controller = new AbortController();
    setTimeout(() => controller.abort("enough"), 100);
    expect(await errorOf(connect(stub.baseURL).create(hello, { signal: controller.signal }))).toBe("enough");
    expect(stub.requests).toHaveLength(1);
  });
});

describe("stream()", () => {
  test("repeats before its head has come", async () => {
    await using stub = await startStub(reset, fail(503, "service_unavailable", soon), stream(wholeStream));
    expect(textOf(await Array.fromAsync(connect(stub.baseURL).stream(hello)))).toBe("Hello.");
    expect(stub.requests).toHaveLength(3);
  });

  test.each([
    ["ends", stream("")],
    ["breaks", stream("", reset)],
    [
      "fails",
      stream(
        'data: {"error":{"message":"x","type":"server_error","param":null,"code":"upstream_error"},"request_id":"r"}\n\n',
      ),
    ],
  ])("repeats nothing when it %s after its head, even without a chunk", async (_title, reply) => {
    await using stub = await startStub(reply);
    expect(await errorOf(Array.fromAsync(connect(stub.baseURL).stream(hello)))).toMatchObject({
      retry: { isAutomatic: false },
    });
    expect(stub.requests).toHaveLength(1);
  });
});

describe("timeoutMs", () => {
  test("bounds the wait for an answer, and there is no retry", async () => {
    await using stub = await startStub(stall);
    const error = await errorOf(connect(stub.baseURL, { timeoutMs: 300 }).create(hello));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: "client_timeout", retry: { helps: "maybe", isAutomatic: false } });
    expect(await stub.requests[0]?.closed).toBe("hung up");
    expect(stub.requests).toHaveLength(1);
  });

  test("bounds the wait for the rest of an answer", async () => {
    await using stub = await startStub((response) => response.writeHead(200).write('{"id"'));
    expect(await errorOf(connect(stub.baseURL, { timeoutMs: 300 }).create(hello))).toBeInstanceOf(TimeoutError);
  });

  test("bounds all attempts together", async () => {
    await using stub = await startStub(fail(500, "internal_error", { "retry-after-ms": "1" }), stall);
    const error = await errorOf(connect(stub.baseURL).create(hello, { timeoutMs: 1000 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(stub.requests).toHaveLength(2);
  });

  test("bounds the wait for the head of a stream, and nothing after it", async () => {
    await using stub = await startStub(stall);
    const parley = connect(stub.baseURL, { timeoutMs: 300 });
    expect(await errorOf(Array.fromAsync(parley.stream(hello)))).toBeInstanceOf(TimeoutError);
    const slow = stream("", (response) => setTimeout(() => response.end(wholeStream), 900));
    await using other = await startStub(slow);
    const chunks = await Array.fromAsync(connect(other.baseURL, { timeoutMs: 600 }).stream(hello));
    expect(textOf(chunks)).toBe("Hello.");
  });

  test("can be Infinity", async () => {
    await using stub = await startStub(answer(200, completion));
    const forEver = { timeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: Number.POSITIVE_INFINITY };
    expect(await connect(stub.baseURL, forEver).create(hello)).toEqual(completion);
  });
});
