import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { ResponseInfo } from "../src/index.ts";
import { connect, errorOf, hello, testKey } from "./ask.ts";
import { answer, completion, fail, startStub } from "./stub-server.ts";

describe("on the wire", () => {
  test("create() posts the request with the key, and returns the answer unchanged", async () => {
    await using stub = await startStub(answer(200, completion));
    expect(await connect(stub.baseURL).create(hello)).toEqual(completion);
    const [request] = stub.requests;
    expect(request).toMatchObject({ line: "POST /v1/chat/completions" });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${testKey}`,
      "content-type": "application/json",
    });
    expect(JSON.parse(request?.body ?? "")).toEqual({ ...hello, stream: false });
  });

  test.each(["", "/", "/v1", "/v1/"])("a base URL may end in %j", async (end) => {
    await using stub = await startStub(answer(200, { object: "list", data: [] }));
    expect(await connect(`${stub.origin}/behind/a/gateway${end}`).models()).toEqual([]);
    expect(stub.requests[0]?.line).toBe("GET /behind/a/gateway/v1/models");
  });

  test("model() encodes the slash of the id", async () => {
    await using stub = await startStub(answer(200, { id: "vendor/model-1" }));
    expect(await connect(stub.baseURL).model("vendor/model-1")).toEqual({ id: "vendor/model-1" });
    expect(stub.requests[0]).toMatchObject({ line: "GET /v1/models/vendor%2Fmodel-1", body: "" });
  });

  test("headers of the client and of the call are sent, the later over the earlier", async () => {
    await using stub = await startStub(answer(200, completion));
    const headers = new Headers({ "x-team": "one", "x-zone": "a", authorization: "Custom 1" });
    const { create } = connect(stub.baseURL, { headers, strictParams: true });
    await create(hello, { headers: { "X-Team": "two" }, clientRequestId: "order-1" });
    expect(stub.requests[0]?.headers).toMatchObject({
      authorization: "Custom 1",
      "x-team": "two",
      "x-zone": "a",
      "x-strict-params": "true",
      "x-client-request-id": "order-1",
    });
  });

  test("the caller's fetch gets the URL and everything else in its init", async () => {
    const seen: [string, RequestInit][] = [];
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      seen.push([url, init]);
      return Response.json(completion);
    };
    await connect("https://api.example.com/v1", { fetch }).create(hello);
    const [url, init] = seen[0] ?? [];
    expect(url).toBe("https://api.example.com/v1/chat/completions");
    expect(init).toMatchObject({ method: "POST", body: JSON.stringify({ ...hello, stream: false }) });
    expect(init?.signal).toBeInstanceOf(AbortSignal);
  });

  test("onResponse is called for every response, also for retried ones", async () => {
    await using stub = await startStub(
      fail(500, "internal_error", { "retry-after-ms": "1" }),
      answer(200, completion, { "x-ignored-params": "store" }),
    );
    const heard: ResponseInfo[] = [];
    await connect(stub.baseURL, { onResponse: (info) => heard.push(info) }).create(hello);
    expect(heard.map(({ status, requestId }) => [status, requestId])).toEqual([
      [500, "req_stub"],
      [200, "req_stub"],
    ]);
    expect(heard[1]?.headers.get("x-ignored-params")).toBe("store");
  });

  test("an error of onResponse ends the call without a retry", async () => {
    await using stub = await startStub((response) => response.writeHead(200).write("{"));
    const mistake = new Error("mine");
    const onResponse = (): never => {
      throw mistake;
    };
    expect(await errorOf(connect(stub.baseURL, { onResponse }).create(hello))).toBe(mistake);
    expect(await stub.requests[0]?.closed).toBe("hung up");
    expect(stub.requests).toHaveLength(1);
  });
});

describe("the key", () => {
  test("comes from a function that is called for every attempt", async () => {
    await using stub = await startStub(
      fail(503, "service_unavailable", { "retry-after-ms": "1" }),
      answer(200, completion),
    );
    let turn = 0;
    await connect(stub.baseURL, { apiKey: async () => `key-${(turn += 1)}` }).create(hello);
    expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer key-1", "Bearer key-2"]);
  });

  test("a function that fails ends the call with its own error", async () => {
    const mistake = new Error("the vault is closed");
    const parley = connect("http://127.0.0.1:9", { apiKey: () => Promise.reject(mistake) });
    expect(await errorOf(parley.create(hello))).toBe(mistake);
  });

  test.each([
    ["a refused connection", "http://127.0.0.1:9/v1", testKey],
    ["an address with a user", `https://${testKey}@api.example.com`, testKey],
    ["the key as the address", testKey, testKey],
    ["a key with a line break", "http://127.0.0.1:9/v1", `${testKey}\nx`],
    ["a key outside Latin-1", "http://127.0.0.1:9/v1", `${testKey}ключ`],
  ])("is in no error: %s", async (_title, baseURL, apiKey) => {
    const error = await errorOf((async () => await connect(baseURL, { apiKey, maxRetries: 0 }).create(hello))());
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(testKey);
  });

  test("is not in an inspected client", () => {
    expect(inspect(connect("http://127.0.0.1:9/v1"), { depth: 20, showHidden: true })).not.toContain(testKey);
  });

  test("is not in an error of the service", async () => {
    await using stub = await startStub(fail(401, "invalid_api_key"));
    const error = await errorOf(connect(stub.baseURL).create(hello));
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(testKey);
  });
});

test("a request that is not JSON is a TypeError and is not sent", async () => {
  await using stub = await startStub(answer(200, completion));
  const circular: Record<string, string> = {};
  Object.assign(circular, { circular });
  const error = await errorOf(connect(stub.baseURL).create({ ...hello, metadata: circular }));
  expect(error).toBeInstanceOf(TypeError);
  expect(stub.requests).toHaveLength(0);
});
