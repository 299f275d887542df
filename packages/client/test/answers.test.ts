import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { APIError, ConnectionError, MalformedResponseError } from "../src/index.ts";
import { connect, errorOf, hello } from "./ask.ts";
import { answer, completion, fail, reset, stall, startStub } from "./stub-server.ts";
import type { Reply } from "./stub-server.ts";

/** The client has no retries, so each fault shows at once. */
async function errorFor(reply: Reply): Promise<unknown> {
  await using stub = await startStub(reply);
  return await errorOf(connect(stub.baseURL, { maxRetries: 0 }).create(hello));
}

test("an answer may hold values that this version does not know", async () => {
  const [choice] = completion.choices;
  const later = { ...completion, object: "chat.answer", choices: [{ ...choice, finish_reason: "paused" }] };
  await using stub = await startStub(answer(200, later));
  expect(await connect(stub.baseURL).create(hello)).toMatchObject(later);
});

describe("an error", () => {
  test("of the service has all fields of the answer", async () => {
    const body = {
      error: {
        message: "The limit is reached.",
        type: "rate_limit_error",
        param: null,
        code: "rate_limit_exceeded",
        details: { limit: "tokens" },
      },
      request_id: "req_1",
    };
    const error = await errorFor(answer(429, body, { "x-request-id": "req_1", "retry-after-ms": "1500" }));
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      ...body.error,
      status: 429,
      requestId: "req_1",
      retry: { helps: "after-wait", afterMs: 1500, isAutomatic: true },
      chunks: [],
    });
  });

  test("with a code of a later version is kept, and judged by its status", async () => {
    expect(await errorFor(fail(503, "made_tomorrow"))).toMatchObject({
      code: "made_tomorrow",
      retry: { helps: "maybe", isAutomatic: true },
    });
  });

  test.each([
    ["a page of a proxy", answer(502, "<html>Bad gateway</html>", { "content-type": "text/html" })],
    ["nothing at all", answer(502, "", { "content-length": "0" })],
    ["JSON of another API", answer(502, { error: "bad gateway" })],
    ["JSON that is not an object", answer(502, "null")],
    ["members of the wrong type", answer(502, { error: { message: 1, code: 2, type: null, details: "x" } })],
  ])("whose body is %s has no code, and its status decides", async (_title, reply) => {
    const error = await errorFor(reply);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      code: null,
      type: null,
      param: null,
      status: 502,
      requestId: "req_stub",
      retry: { helps: "maybe", isAutomatic: true },
    });
    expect(String(error)).toContain("502");
  });
});

describe("no answer", () => {
  const isAutomatic = true;

  test.each([
    ["a reset connection", reset],
    ["a connection that ends before the head", (response: Parameters<Reply>[0]) => response.destroy()],
    ["an error that breaks off", breakOff(500)],
  ])("is told as a connection error that may be retried: %s", async (_title, reply) => {
    const error = await errorFor(reply);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ retry: { helps: "maybe", isAutomatic }, cause: expect.any(Error) as unknown });
  });

  test("that breaks off after a success has begun is not retried automatically", async () => {
    const error = await errorFor(breakOff(200));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ requestId: "req_stub", retry: { helps: "maybe", isAutomatic: false } });
  });

  test.each([
    ["empty", answer(200, "", { "content-length": "0" })],
    ["a page", answer(200, "<html>Sign in</html>", { "content-type": "text/html" })],
    ["cut JSON", answer(200, '{"id": "chat')],
    ["cut JSON of an unknown length", (response: Parameters<Reply>[0]) => response.writeHead(200).end('{"id": "chat')],
    ["null", answer(200, "null")],
  ])("is a malformed response when a success is %s", async (_title, reply) => {
    const error = await errorFor(reply);
    expect(error).toBeInstanceOf(MalformedResponseError);
    expect(error).toMatchObject({ retry: { helps: "maybe", isAutomatic: false } });
  });
});

/** Sends a head and a piece of the body, and breaks the connection. */
function breakOff(status: number): Reply {
  return (response) => {
    response.writeHead(status, { "content-length": "1000", "x-request-id": "req_stub" });
    response.write('{"id"', () => reset(response));
  };
}

describe("a caller's signal", () => {
  test("ends a call that waits for its answer with its reason, and closes the connection", async () => {
    await using stub = await startStub(stall);
    const controller = new AbortController();
    const call = connect(stub.baseURL).create(hello, { signal: controller.signal });
    setTimeout(() => controller.abort("changed my mind"), 50);
    expect(await errorOf(call)).toBe("changed my mind");
    expect(await stub.requests[0]?.closed).toBe("hung up");
  });

  test("ends a call whose body is still arriving", async () => {
    const controller = new AbortController();
    await using stub = await startStub((response) => {
      response.writeHead(200, { "content-type": "application/json" }).write('{"id"');
      setTimeout(() => controller.abort(), 20);
    });
    const error = await errorOf(connect(stub.baseURL).create(hello, { signal: controller.signal }));
    expect(error).toHaveProperty("name", "AbortError");
    expect(await stub.requests[0]?.closed).toBe("hung up");
  });

  test("that has aborted already prevents the request", async () => {
    const asked: string[] = [];
    const apiKey = (): string => {
      asked.push("key");
      return "key";
    };
    const fetch = async (url: string): Promise<Response> => {
      asked.push(url);
      return Response.json(completion);
    };
    const signal = AbortSignal.abort("too late");
    expect(await errorOf(connect("http://x", { apiKey, fetch }).create(hello, { signal }))).toBe("too late");
    expect(asked).toEqual([]);
  });

  test("that aborts after the answer has no effect, and is no longer referenced", async () => {
    await using stub = await startStub(answer(200, completion));
    const controller = new AbortController();
    expect(await connect(stub.baseURL).create(hello, { signal: controller.signal })).toEqual(completion);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort();
  });
});
