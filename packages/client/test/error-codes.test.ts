import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { modelId, startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { APIError } from "../src/index.ts";
import type { ChatMessage, CreateRequest, Parley, ParleyOptions } from "../src/index.ts";
import { connect as connectTo, errorOf, hello } from "./ask.ts";
import { playing, scenarios } from "./scenarios.ts";

/** Every error code of the contract, from the real server through the client. */

let server: TestServer;
beforeAll(async () => {
  const settings = { bodyTimeoutMs: 1000, requestTimeoutMs: 2000, queueLength: 0, drainMs: 50 };
  server = await startTestServer({ settings, scenarios });
});
afterAll(() => server[Symbol.asyncDispose]());

const connect = (options: Partial<ParleyOptions> = {}): Parley =>
  connectTo(server.baseUrl, { maxRetries: 0, ...options });

/** A request that only a caller without types can write. */
const odd = (members: Record<string, unknown>): CreateRequest => ({ ...hello, ...members });

const long: ChatMessage[] = [{ role: "user", content: "word ".repeat(40_000) }];
/** Sends a request that the client would not send. */
const sending =
  (init: RequestInit): ParleyOptions["fetch"] =>
  (url, own) =>
    fetch(url, { ...own, ...init });

/** Announces a body, sends a byte of it, and waits for the answer. */
async function trickle(url: string, init: RequestInit): Promise<Response> {
  const headers = { ...Object.fromEntries(new Headers(init.headers)), "content-length": "1000" };
  const posted = httpRequest(url, { method: "POST", headers });
  posted.write("{");
  // A response's only argument is the message.
  const [message] = (await once(posted, "response")) as [IncomingMessage];
  const body = await text(message);
  posted.destroy();
  const own = { "x-request-id": String(message.headers["x-request-id"]) };
  return new Response(body, { status: message.statusCode ?? 0, headers: own });
}

const faults: Record<string, () => Promise<unknown>> = {
  invalid_json: () => connect({ fetch: sending({ body: "{" }) }).create(hello),
  missing_required_parameter: () => connect().create(odd({ messages: undefined })),
  invalid_type: () => connect().create(odd({ temperature: "0.5" })),
  invalid_value: () => connect().create({ ...hello, temperature: 3 }),
  unsupported_value: () =>
    connect().create(odd({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] })),
  unsupported_parameter: () => connect().create(odd({ functions: [] })),
  unknown_parameter: () => connect({ strictParams: true }).create(odd({ mood: "good" })),
  invalid_schema: () =>
    connect().create({
      ...hello,
      response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: 1 } } },
    }),
  context_length_exceeded: () => connect().create({ ...hello, messages: long }),
  invalid_api_key: () => connect({ apiKey: "wrong" }).create(hello),
  insufficient_quota: async () => connect({ apiKey: await server.makeKey({ budgetUsd: "0" }) }).create(hello),
  model_not_found: () => connect().model("vendor/none"),
  request_not_found: () => connect().receipt("req_1"),
  unknown_url: () => connect({ baseURL: `${server.origin}/v1/v1` }).models(),
  method_not_allowed: () => connect({ fetch: sending({ method: "PUT" }) }).create(hello),
  request_in_progress: async () => {
    const parley = connect({ headers: { "idempotency-key": "running" }, maxRetries: 0 });
    const leave = new AbortController();
    const running = parley.stream(playing("stall-late"), { signal: leave.signal });
    try {
      for await (const _chunk of running) return await Array.fromAsync(parley.stream(playing("stall-late")));
    } finally {
      leave.abort();
    }
    return undefined;
  },
  idempotency_key_reused: async () => {
    const parley = connect({ headers: { "idempotency-key": "reused" } });
    await parley.create(hello);
    return await parley.create({ ...hello, temperature: 0.5 });
  },
  request_too_large: () => connect().create({ ...hello, messages: [{ role: "user", content: "x".repeat(4_194_304) }] }),
  unsupported_media_type: () => connect({ headers: { "content-type": "text/plain" } }).create(hello),
  rate_limit_exceeded: async () => {
    const parley = connect({ apiKey: await server.makeKey({ requestsPerMinute: 1 }) });
    await parley.create(hello);
    return await parley.create(hello);
  },
  upstream_error: () => connect().create(playing("fail")),
  request_timeout: () => connect({ fetch: trickle }).create(hello),
  timeout: () => connect().create(playing("stall")),
  capacity_exhausted: async () => {
    const holding = Array.from({ length: 8 }, () => connect().stream({ ...playing("stall-late"), n: 8 }));
    try {
      await Promise.all(holding.map((stream) => stream.next()));
      return await connect().create(hello);
    } finally {
      await Promise.all(holding.map((stream) => stream.return()));
    }
  },
  internal_error: async () => {
    const { keys } = server.running;
    const apiKey = await server.makeKey();
    const find = keys.find.bind(keys);
    Object.assign(keys, { find: () => Promise.reject(new Error("the disk is gone")) });
    return await connect({ apiKey })
      .create(hello)
      .finally(() => Object.assign(keys, { find }));
  },
  service_unavailable: async () => {
    await server.running.models[1]?.engine.close(0);
    return await connect().create({ ...hello, model: `${modelId}-mini` });
  },
};

const catalog = Object.entries(contract["x-error-catalog"]);

/** The values of `param` that the catalogue allows. */
const params: Readonly<Record<string, readonly string[]>> = {
  required: ["string"],
  optional: ["string", "null"],
  null: ["null"],
};

test.each(catalog)("%s comes as an APIError", async (code, { status, type, param, retry }) => {
  const error = await errorOf(faults[code]?.() ?? Promise.resolve("no fault is written for this code"));
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ code, status, type, retry: { helps: retry.helps } });
  expect(error).toHaveProperty("requestId", expect.stringMatching(/^req_/));
  const { param: at, retry: advice } = error as APIError; // the line before shows it
  expect(params[String(param)]).toContain(at === null ? "null" : typeof at);
  expect(advice.isAutomatic).toBe(retry.helps !== "never");
  expect(typeof advice.afterMs).toBe(retry.wait === "retry-after" ? "number" : "undefined");
});

test("details have the form of their types", async () => {
  const [limited, overflow] = await Promise.all([
    errorOf(faults["rate_limit_exceeded"]?.() ?? Promise.resolve()),
    errorOf(faults["context_length_exceeded"]?.() ?? Promise.resolve()),
  ]);
  expect(limited).toHaveProperty("details", { limit: "requests" });
  expect(overflow).toHaveProperty("details", {
    context_length: 32_768,
    prompt_tokens: expect.any(Number) as unknown,
    max_completion_tokens: 16_384,
  });
});
