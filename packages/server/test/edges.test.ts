import { describe, expect, test } from "vitest";
import { modelId, play, testKey, until } from "@parley/server/testing";
import { RawConnection, exchange, requestText } from "./raw.ts";
import type { RawAnswer } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Tests of the bytes on the wire, which HTTP clients hide.

const server = useServer({
  scenarios: {
    slow: [{ role: true }, { text: "slow" }, { wait_ms: 150 }, { finish: "stop" }],
    stall: [{ role: true }, { stall: true }],
  },
});
const auth = { Authorization: `Bearer ${testKey}` };
const json = { ...auth, "Content-Type": "application/json" };
const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "Hello" }] });
const post = (more: Readonly<Record<string, string>> = {}, text = body): string =>
  requestText(
    "POST /v1/chat/completions",
    { ...json, "Content-Length": String(Buffer.byteLength(text)), ...more },
    text,
  );
const errorOf = (answer: RawAnswer | undefined): unknown =>
  (JSON.parse(answer?.body || '{"error": "the answer has no body"}') as { error: unknown }).error;
const send = (bytes: string | Uint8Array): Promise<RawAnswer | undefined> => exchange(server().origin, bytes);

describe("HTTP-22 ERR-01 ERR-02 ERR-03 ERR-04 ERR-05 ERR-06 bytes that cannot be read as HTTP", () => {
  test.each([
    ["a word", "hello\r\n\r\n", 400],
    ["the greeting of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001", 400],
    ["a header without a colon", "GET /v1/models HTTP/1.1\r\nHost\r\n\r\n", 400],
    ["a header with a control character", "GET /v1/models HTTP/1.1\r\nA: \u0001\r\n\r\n", 400],
    ["a path with a blank", "GET /v1/mo dels HTTP/1.1\r\n\r\n", 400],
    ["a length that is not a number", "POST /v1/models HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400],
    ["two lengths", "POST /v1/models HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    ["a length and a coding", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
    ["an unknown coding", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, rot13\r\n\r\n", 400],
    ["a broken percent-encoding", requestText("GET /v1/models/%E0%A4%A", auth), 400],
    ["another broken one", requestText("GET /v1/models/a%", auth), 400],
    ["HTTP/0.9", "GET /v1/models\r\n\r\n", 505],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    ["HTTP/2 in the words of HTTP/1", "GET /v1/models HTTP/2.0\r\n\r\n", 505],
    ["HTTP/9.9", "GET /v1/models HTTP/9.9\r\n\r\n", 505],
    ["a URL of 8193 characters", requestText(`GET /v1/${"x".repeat(8189)}`, auth), 414],
    ["a URL of 40 kB", requestText(`GET /v1/${"x".repeat(40_000)}`, auth), 414],
    ["a header of 17 kB", requestText("GET /v1/models", { ...auth, A: "x".repeat(17_000) }), 431],
    ["a header of 100 kB", requestText("GET /v1/models", { ...auth, A: "x".repeat(100_000) }), 431],
    ["101 header fields", requestText("GET /v1/models", manyHeaders(100)), 431],
    ["3000 header fields", requestText("GET /v1/models", manyHeaders(3000)), 431],
  ])("%s", async (_title, bytes, status) => {
    const answer = await send(Buffer.from(bytes, "latin1"));
    expect(answer?.status).toBe(status);
    expect(errorOf(answer)).toMatchObject({ type: "invalid_request_error", code: "invalid_value", param: null });
  });

  test("a request that is just small enough is read", async () => {
    expect((await send(requestText("GET /v1/models", manyHeaders(99))))?.status).toBe(200);
    expect((await send(requestText(`GET /v1/models?${"x".repeat(8000)}`, auth)))?.status).toBe(200);
  });

  test("CONNECT is refused, and leads nowhere", async () => {
    expect((await send("CONNECT example.com:443 HTTP/1.1\r\n\r\n"))?.status).toBe(404);
  });

  test("a malformed chunk in the body of a known caller is answered with the caller's limits", async () => {
    const answer = await send(
      requestText("POST /v1/chat/completions", { ...json, "Transfer-Encoding": "chunked" }, "zz\r\n"),
    );
    expect(answer?.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: "invalid_value", param: null });
    expect(answer?.headers).toHaveProperty("x-ratelimit-limit-requests");
  });

  test("each of them is in the log under its request id", async () => {
    const id = (await send("hello\r\n\r\n"))?.headers["x-request-id"] ?? "";
    expect(server().logLines.filter((line) => line.includes(id))).toHaveLength(1);
  });
});

describe("paths and methods in unusual spellings", () => {
  test.each([
    ["a path as proxies write it", "GET http://example.com/v1/models", 200],
    ["the same with a model", "GET https://example.com/v1/models/vendor/model-1", 200],
    ["only a host", "GET http://example.com", 302],
    ["two slashes in front", "GET //v1/models", 404],
    ["an encoded letter", "GET /v1/model%73", 404],
    ["dots", "GET /v1/../v1/models", 404],
    ["a star", "OPTIONS *", 404],
    ["a fragment", "GET /v1/models#a", 404],
  ])("%s", async (_title, requestLine, status) => {
    expect((await send(requestText(requestLine, auth)))?.status).toBe(status);
  });

  test("HTTP/1.0 is spoken, streams included", async () => {
    expect((await send(`GET /v1/models HTTP/1.0\r\nAuthorization: ${auth.Authorization}\r\n\r\n`))?.status).toBe(200);
    using connection = await RawConnection.open(server().origin);
    const text = JSON.stringify({ ...(JSON.parse(body) as object), stream: true });
    connection.send(post({}, text).replace("HTTP/1.1", "HTTP/1.0"));
    await connection.closed;
    expect(connection.rest).toMatch(
      /^HTTP\/1\.1 200[\s\S]*connection: close[\s\S]*\r\n\r\ndata: [\s\S]*\n\ndata: \[DONE\]\n\n$/i,
    );
  });

  test("an upgrade that nobody offered is not made", async () => {
    const headers = { ...auth, Connection: "Upgrade", Upgrade: "websocket" };
    expect((await send(requestText("GET /v1/models", headers)))?.status).toBe(200);
  });
});

describe("the head", () => {
  const hasty = useServer({ settings: { headTimeoutMs: 400 } });

  test.each(["", "GET /v1/mod", "GET /v1/models HTTP/1.1\r\nAuthorization: Bea"])(
    "HTTP-19 that does not come in time is answered with 408: %j",
    async (bytes) => {
      using connection = await RawConnection.open(hasty().origin);
      connection.send(bytes);
      const answer = await connection.read();
      expect(answer?.status).toBe(408);
      expect(errorOf(answer)).toMatchObject({ type: "timeout_error", code: "request_timeout", param: null });
      await connection.closed;
    },
  );
});

describe("Expect", () => {
  test("AUTH-13 100-continue is answered once the request may go on", async () => {
    using connection = await RawConnection.open(server().origin);
    const [head = ""] = post({ Expect: "100-continue" }).split("\r\n\r\n");
    connection.send(`${head}\r\n\r\n`);
    expect((await connection.read("POST", "/v1/chat/completions"))?.status).toBe(100);
    connection.send(body);
    expect((await connection.read("POST", "/v1/chat/completions"))?.status).toBe(200);
  });

  test("AUTH-13 HTTP-22 something else is 417 with a good key, and 401 without", async () => {
    const answer = await send(requestText("GET /v1/models", { ...auth, Expect: "miracles" }));
    expect(answer).toMatchObject({ status: 417, headers: { "x-ratelimit-limit-requests": "10000" } });
    expect(errorOf(answer)).toMatchObject({ code: "invalid_value", param: null });
    expect((await send(requestText("GET /v1/models", { Expect: "miracles" })))?.status).toBe(401);
  });
});

describe("a connection", () => {
  test.each([
    ["401", requestText("GET /v1/models")],
    ["404", requestText("GET /v1/nothing", auth)],
    ["405", requestText("DELETE /v1/models", auth)],
    ["400", requestText("GET /v1/models/%", auth)],
    ["400", post({}, "{")],
    ["404", post({}, body.replace("model-1", "model-2"))],
    ["417", requestText("GET /v1/models", { ...auth, Expect: "miracles" })],
  ])("HTTP-23 goes on after a %s whose request was read to its end: %#", async (status, first) => {
    using connection = await RawConnection.open(server().origin);
    expect((await connection.ask(first))?.status).toBe(Number(status));
    expect((await connection.ask(requestText("GET /v1/models", auth)))?.status).toBe(200);
  });

  test("carries requests that come at once, answered in their order", async () => {
    using connection = await RawConnection.open(server().origin);
    const slow = JSON.stringify({ model: modelId, ...play("slow") });
    connection.send(post({}, slow) + post() + requestText("GET /v1/models", auth));
    expect((await connection.read("POST", "/v1/chat/completions"))?.body).toContain('"slow"');
    expect((await connection.read("POST", "/v1/chat/completions"))?.body).toContain("You said: Hello");
    expect((await connection.read())?.body).toContain('"list"');
  });

  test("that is closed drops the requests that still wait on it: none of them begins", async () => {
    using connection = await RawConnection.open(server().origin);
    const stall = JSON.stringify({ model: modelId, ...play("stall") });
    const before = server().logLines.length;
    connection.send(Array.from({ length: 12 }, () => post({}, stall)).join(""));
    await until(
      () => server().gauge("parley_requests_running"),
      (running) => running === 1,
    );
    connection.socket.destroy();
    await until(
      () => server().gauge("parley_requests_running"),
      (running) => running === 0,
      1000,
    );
    const lines = await until(
      () =>
        server()
          .logLines.slice(before)
          .filter((line) => line.includes('"msg":"request"')),
      ({ length }) => length > 0,
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"outcome":"cancelled"');
    expect(lines[0]).toContain('"status":499');
  });

  test("whose next request is malformed does not mix up the two answers", async () => {
    using connection = await RawConnection.open(server().origin);
    connection.send(post({}, JSON.stringify({ model: modelId, ...play("stall") })));
    await until(
      () => server().gauge("parley_requests_running"),
      (running) => running === 1,
    );
    connection.send("noise\r\n\r\n");
    await connection.closed;
    expect(connection.rest).toBe("");
  });

  test("HTTP-23 is closed after a body that nobody reads", async () => {
    const long = { ...auth, "Content-Length": "100000" };
    const answer = await send(requestText("GET /v1/models", long));
    expect(answer).toMatchObject({ status: 200, headers: { connection: "close" } });
    expect((await send(requestText("POST /v1/nothing", long)))?.headers["connection"]).toBe("close");
  });
});

describe("request ids", () => {
  test("HTTP-29 HTTP-30 are the server's own, and unique for every answer", async () => {
    const sent = "req_000000000000000000000000";
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => send(requestText("GET /v1/models", { ...auth, "X-Request-Id": sent }))),
      send(requestText("GET /v1/models")),
      send(requestText("GET /v1/nothing", auth)),
      send(post()),
      send(post({}, JSON.stringify({ ...(JSON.parse(body) as object), stream: true }))),
      send("noise\r\n\r\n"),
      send(requestText("GET /health")),
    ]);
    const ids = answers.map((answer) => answer?.headers["x-request-id"]);
    expect(ids.every((id) => /^req_[0-9a-f]{24}$/.test(id ?? "") && id !== sent)).toBe(true);
    expect(new Set(ids).size).toBe(answers.length);
  });

  test.each([
    ["HTTP-31 a name", "order-4711/attempt 2~", true],
    ["HTTP-31 512 characters", "x".repeat(512), true],
    ["HTTP-32 513 characters", "x".repeat(513), false],
    ["HTTP-32 bytes beyond ASCII", "f\u00fcnf", false],
    ["HTTP-32 nothing", "", false],
    ["HTTP-32 a tab", "a\tb", false],
  ])("%s of the caller's own is echoed: %#", async (_title, id, isEchoed) => {
    const bytes = requestText("GET /v1/models", { ...auth, "X-Client-Request-Id": id });
    const answer = await send(Buffer.from(bytes, "latin1"));
    expect(answer?.status).toBe(200);
    expect(answer?.headers["x-client-request-id"]).toBe(isEchoed ? id : undefined);
  });

  test("HTTP-31 the caller's own is echoed on errors, too", async () => {
    for (const headers of [{}, auth]) {
      const answer = await send(requestText("GET /v1/nothing", { ...headers, "X-Client-Request-Id": "a" }));
      expect(answer?.headers["x-client-request-id"]).toBe("a");
    }
  });
});

function manyHeaders(count: number): Record<string, string> {
  return { ...auth, ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, "b"])) };
}
