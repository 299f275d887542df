import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Engine, RequestOrigin } from "../src/engine.ts";
import { fronts } from "../src/openai/fronts.ts";
import type { FrontName } from "../src/openai/fronts.ts";
import { ask, event, letters, open, refuse, start, tokens } from "../testing/remote-places.ts";
import type { Answer, Place } from "../testing/remote-places.ts";
import { askOne } from "../testing/requests.ts";
import { quickTimings } from "../testing/start-scripted-vllm.ts";

/** A scripted front: it shows which headers and members it gets, and refuses as the real ones do. */

const trace = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const origin: RequestOrigin = { key: "key_1", weight: 3, requestId: "req_1", traceparent: trace };

async function sent(
  front: FrontName,
  origin: RequestOrigin,
  text = "Hello",
): Promise<Pick<Place["requests"][number], "headers" | "body">> {
  const place = await open(front === "dynamo" ? answerAsDynamo : undefined);
  const engine = await start([place], { front });
  await askOne(engine, { origin, messages: [{ role: "user", content: text }] });
  return place.requests.at(-1) ?? { headers: {}, body: "{}" };
}

const sessionOf = async (origin: RequestOrigin, text?: string): Promise<unknown> =>
  (await sent("ray", origin, text)).headers["x-session-id"];

test.each<[FrontName, object]>([
  ["vllm-router", { "x-session-id": expect.stringMatching(/^[\w-]{32}$/) }],
  ["production-stack", { "x-session-id": expect.stringMatching(/^[\w-]{32}$/) }],
  ["dynamo", { "x-dynamo-session-id": expect.stringMatching(/^[\w-]{32}$/) }],
  ["llm-d", { "x-llm-d-inference-fairness-id": "key_1", "x-llm-d-inference-objective": "weight-3" }],
  ["ray", { "x-session-id": expect.stringMatching(/^[\w-]{32}$/) }],
])("%s gets its headers", async (front, headers) => {
  const { headers: got } = await sent(front, origin);
  expect(got).toMatchObject({ ...headers, "x-request-id": "req_1", traceparent: trace });
});

test("a generic front gets no header but those of the operator", async () => {
  const { headers } = await sent("generic", origin);
  expect(Object.keys(headers).filter((name) => name.startsWith("x-") || name === "traceparent")).toEqual([]);
});

/** Answers as the frontend of Dynamo 1.6.1: it refuses members that it does not know, and gives ids only on request. */
const answerAsDynamo: Answer = (response, body, request) => {
  const sent = JSON.parse(body) as Record<string, unknown> & { readonly nvext?: { readonly extra_fields?: string[] } }; // written by the engine under test
  const unknown = ["return_token_ids", "structured_outputs"].filter((name) => name in sent);
  if (unknown.length > 0)
    return refuse(400, `{"message":"Unsupported parameter(s): ${unknown.join()}"}`)(response, body, request);
  if (Array.isArray(sent["stop"]) && sent["stop"].length === 0)
    return refuse(400, '{"message":"empty"}')(response, body, request);
  const ids = sent.nvext?.extra_fields?.includes("completion_token_ids") ? [...letters] : undefined;
  const usage = { prompt_tokens: 9, completion_tokens: 8 };
  const of = (choice: object, completion_token_ids: unknown): string =>
    event({ choices: [{ index: 0, ...choice }], usage, nvext: { completion_token_ids } });
  response.end(of({ text: "abcdefgh" }, ids) + of({ text: "", finish_reason: "length" }, []) + event("[DONE]"));
};

async function startDynamo(): Promise<{ readonly engine: Engine; readonly last: () => unknown }> {
  const place = await open(answerAsDynamo);
  const engine = await start([place], { front: "dynamo" });
  return { engine, last: () => JSON.parse(place.requests.at(-1)?.body ?? "{}") };
}

test("Dynamo is asked for token ids, and gets the priority and the salt, in its own member", async () => {
  const { engine, last } = await startDynamo();
  expect(await askOne(engine, { origin })).toMatchObject({
    text: "abcdefgh",
    finish: "length",
    usage: { completionTokens: 8 },
  });
  const { cache_salt: salt, nvext } = last() as { readonly cache_salt: string; readonly nvext: object };
  expect(salt).toMatch(/^[\w-]{43}$/);
  expect(nvext).toEqual({ agent_hints: { priority: 3 }, cache_salt: salt, extra_fields: ["completion_token_ids"] });
  expect((await sent("ray", origin)).body).not.toContain("nvext");
});

test("Dynamo gets a grammar for JSON, and nothing that needs structural tags", async () => {
  const { engine, last } = await startDynamo();
  expect(engine.metadata).toMatchObject({ canReason: false, canCallTools: false });
  await askOne(engine, { origin, format: { type: "json_object" } }).catch(() => undefined); // the letters are not JSON
  expect(last()).toMatchObject({ guided_grammar: expect.stringContaining("root") });
  const tools = [{ name: "f", description: undefined, parameters: { type: "object" }, isStrict: false }];
  await expect(askOne(engine, { origin, tools, toolChoice: { oneOf: ["f"] } })).rejects.toMatchObject({
    kind: "rejected",
    param: "tool_choice",
  });
});

test("Dynamo that fails in the middle of a stream, or is full, is told apart", async () => {
  const place = await open(answerAsDynamo);
  const engine = await start([place], { front: "dynamo" });
  const lost = event({ error: { message: "Service temporarily unavailable", code: 503 } }) + event("[DONE]");
  place.answer = (response) => void response.end(lost);
  expect(await ask(engine)).toBe("(unavailable)");
  const first = event({ choices: [{ index: 0 }], nvext: { completion_token_ids: [...letters.subarray(0, 2)] } });
  place.answer = (response) => void response.end(first + lost);
  expect(await ask(engine)).toBe("ab(crashed)");
  place.answer = refuse(529, '{"message":"Service temporarily overloaded","type":"Overloaded","code":529}');
  expect(await ask(engine)).toBe("(unavailable)");
});

test("a session is the same for all turns of a conversation of one key, and for nothing else", async () => {
  const named = { ...origin, cacheKey: "chat-1" };
  expect(await sessionOf(named, "a")).toBe(await sessionOf(named, "b"));
  expect(await sessionOf(named)).not.toBe(await sessionOf({ ...named, key: "key_2" }));
  expect(await sessionOf(named)).not.toBe(await sessionOf({ ...named, cacheKey: "chat-2" }));
  const byMetadata = { ...origin, metadata: { session: "s" } };
  expect(await sessionOf(byMetadata, "a")).toBe(await sessionOf(byMetadata, "b"));
  expect(await sessionOf(origin, "a")).toBe(await sessionOf(origin, "a"));
  expect(await sessionOf(origin, "a")).not.toBe(await sessionOf(origin, "b"));
});

test("the operator chooses the session header, and replaces headers of the front", async () => {
  const place = await open();
  const options = {
    front: "llm-d",
    sessionHeader: "x-chat",
    headers: { "X-LLM-D-Inference-Objective": "batch" },
  } as const;
  const engine = await start([place], options);
  await askOne(engine, { origin });
  const headers = place.requests.at(-1)?.headers ?? {};
  expect(headers).toMatchObject({
    "x-chat": expect.stringMatching(/^[\w-]{32}$/),
    "x-llm-d-inference-objective": "batch",
  });
  expect(headers).not.toHaveProperty("x-session-id");
});

test.each(
  Object.entries(fronts).flatMap(([name, { busy }]) => busy.map((status) => [name as FrontName, status] as const)),
)("%s that is full (%i) stays ready, and is asked again at once", async (front, status) => {
  const place = await open(front === "dynamo" ? answerAsDynamo : undefined);
  const engine = await start([place], { front });
  const { answer } = place;
  place.answer = refuse(status, "full");
  expect(await ask(engine)).toBe("(unavailable)");
  place.answer = answer;
  expect(await ask(engine)).toBe("abcdefgh");
  expect(engine.gauges()).toMatchObject({ ejected: 0, restarts: 0 });
});

test.each<[string, Answer]>([
  ["breaks its answer", (response) => void response.write(tokens(2, null), () => response.destroy())],
  ["breaks its answer before the first token", (response) => response.writeHead(200).flushHeaders()],
  ["is reported as 500", refuse(500, "the worker failed")],
  ["is reported as 502", refuse(502, "bad gateway")],
])("one engine that %s does not close the others behind its front", async (_title, answer) => {
  const place = await open();
  const engine = await start([place], { front: "vllm-router" });
  const { answer: normal } = place;
  place.answer = answer;
  expect(await ask(engine)).toMatch(/\((crashed|unavailable|stalled)\)$/);
  place.answer = normal;
  expect(await ask(engine)).toBe("abcdefgh");
  await wait(10 * quickTimings.watchEveryMs);
  expect(engine.gauges()).toMatchObject({ ejected: 0, restarts: 0 });
  expect(engine.state).toBe("ready");
});

test("a front with a dead engine becomes ready, because each probe has a new session", async () => {
  const place = await open();
  const normal = place.answer;
  let dead: unknown;
  place.answer = (response, body, request) => {
    dead ??= request.headers["x-session-id"] ?? "none";
    if ((request.headers["x-session-id"] ?? "none") === dead) response.destroy();
    else normal(response, body, request);
  };
  const engine = await start([place], { front: "vllm-router" });
  expect(engine.state).toBe("ready");
});

/**
 * The refusals of the endpoint picker of llm-d 0.10, which KServe 0.20 starts, too. Envoy sends them as plain text, without a
 * `Retry-After`.
 */
const pickerRefusals = [
  ["a queue that is full", 429, "rejected-saturated"],
  ["a request that has waited too long", 429, "rejected-ttl-expired"],
  ["a request that was stopped for a more urgent one", 429, "evicted-priority"],
  ["a request that was stopped, with another status", 412, "evicted-other"],
  ["a request that was stopped, with the status of a bad request", 400, "evicted-other"],
  ["a pool without endpoints", 503, "rejected-no-endpoints"],
  ["a picker that shuts down", 503, "rejected-shutting-down"],
] as const;
const refuseAsPicker =
  (status: number, reason: string): Answer =>
  (response) =>
    void response
      .writeHead(status, { "content-type": "text/plain", "x-llm-d-request-dropped-reason": reason })
      .end(`inference error: Dropped - ${reason}`);

test.each(pickerRefusals)("llm-d, scripted: %s is busy", async (_title, status, reason) => {
  const [place, other] = [await open(), await open()];
  const alone = await start([place], { front: "llm-d" });
  const pair = await start([place, other], { front: "llm-d" });
  const { answer } = place;
  place.answer = refuseAsPicker(status, reason);
  expect(await ask(alone)).toBe("(unavailable)");
  // Nothing has begun, so another address may be asked.
  expect([await ask(pair), await ask(pair)]).toEqual(["abcdefgh", "abcdefgh"]);
  place.answer = answer;
  expect(await ask(alone)).toBe("abcdefgh");
  expect(alone.gauges()).toMatchObject({ ejected: 0, restarts: 0 });
});

test("KServe, scripted: the picker of llm-d answers behind the path of the service", async () => {
  const place = await open();
  const engine = await start([{ url: `${place.url}/openai` }], { front: "llm-d" });
  await askOne(engine, { origin });
  const { path, headers } = place.requests.at(-1) ?? {};
  expect(path).toBe("/openai/v1/completions");
  expect(headers).toMatchObject({ "x-llm-d-inference-fairness-id": "key_1", "x-session-id": expect.any(String) });
});

const html = "<html><body>Welcome to the gateway</body></html>";
const done = event("[DONE]");
test.each<[string, Answer]>([
  ["HTML with status 200", (response) => void response.writeHead(200, { "content-type": "text/html" }).end(html)],
  ["nothing with status 200", (response) => void response.end()],
  ["only the end of a stream", (response) => void response.end(done)],
  ["JSON with status 200", (response) => void response.end('{"choices":[]}')],
  ["a redirect", (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
  ["a redirect that keeps the method", (response) => void response.writeHead(308, { location: "/v1/models" }).end()],
  ["a close without a status", (response) => void response.destroy()],
  ["bytes that are not HTTP", (response) => void response.socket?.end("hello\r\n\r\n")],
  ["HTML in the middle", (response) => void response.write(tokens(2, null), () => response.end(html))],
  ["an end in the middle", (response) => void response.end(tokens(2, null))],
  ["an early [DONE]", (response) => void response.end(tokens(2, null) + done)],
])("a front that answers %s fails, and never ends clean", async (_title, answer) => {
  const place = await open();
  const engine = await start([place], { front: "vllm-router" });
  place.answer = answer;
  expect(await ask(engine)).toMatch(/^(ab)?\((crashed|protocol)\)$/);
});
