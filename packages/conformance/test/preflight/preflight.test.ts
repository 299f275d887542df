import { describe, expect, test } from "vitest";
import { sentenceOf } from "./run-preflight.ts";
import type { PreflightFlags } from "./run-preflight.ts";
import { completion, each, listed, page, redirect, soundReply, startHttp, status } from "./stub-service.ts";
import type { Reply } from "./stub-service.ts";

const ids = ["meta/llama-3.1-8b-instruct", "meta/llama-3.1-70b-instruct", "acme/embedder"];
const sound = soundReply(ids);
type Row = readonly [
  title: string,
  path: string,
  flags: PreflightFlags,
  reply: Reply,
  sentence: RegExp,
  requests: number,
];

const faults: readonly Row[] = [
  ["a wrong key", "/v1", { key: "wrong-key" }, sound, /refuses the key in PREFLIGHT_KEY.*401 "Unauthorized"/, 1],
  [
    "a wrong key where the listing is public",
    "/v1",
    { key: "wrong-key" },
    each(
      listed("m"),
      status(401, { error: { message: "Incorrect API key provided: wron***.", code: "invalid_api_key" } }),
    ),
    /refuses the key in PREFLIGHT_KEY: POST \/v1\/chat\/completions is answered with 401/,
    2,
  ],
  [
    "a wrong key that is answered with 400",
    "/v1",
    {},
    status(400, { error: { message: "API key not valid. Please pass a valid API key." } }),
    /refuses the key/,
    1,
  ],
  [
    "a key without rights",
    "/v1",
    { model: "m" },
    status(403, { message: "Forbidden" }),
    /refuses the key.*403 "Forbidden"/,
    2,
  ],
  [
    "a base URL without /v1",
    "",
    {},
    sound,
    /no API at (\S+), but there is one at \1\/v1: write --base-url \1\/v1\./,
    2,
  ],
  ["a base URL without /v1 and a wrong key", "", { key: "wrong" }, sound, /there is one at \S+\/v1/, 2],
  [
    "a base URL without /v1, with --model",
    "",
    { model: ids[0] ?? "" },
    sound,
    /404 "Not Found": correct the path in --base-url.*such as \S+\/v1\.$/,
    2,
  ],
  ["another path", "/api/v1", {}, sound, /GET \/api\/v1\/models is answered with 404 "Not Found": correct the path/, 1],
  [
    "a wrong model",
    "/v1",
    { model: "meta/llama-3-8b" },
    sound,
    /does not know the model "meta\/llama-3-8b".*nearest id of its listing is "meta\/llama-3\.1-8b-instruct", so write --model meta/,
    2,
  ],
  [
    "a model like no other",
    "/v1",
    { model: "qwxz" },
    sound,
    /name one that it serves with --model, such as meta\/llama/,
    2,
  ],
  [
    "a wrong model, as LiteLLM answers",
    "",
    { model: "gpt-5" },
    each(
      listed("gpt-4o"),
      status(400, {
        error: {
          message:
            "/chat/completions: Invalid model name passed in model=gpt-5. Call `/v1/models` to view available models for your key.",
        },
      }),
    ),
    /does not know the model "gpt-5"/,
    2,
  ],
  [
    "a model that the key may not use",
    "/v1",
    { model: "gpt-4o" },
    each(listed("gpt-4o"), status(401, { error: { message: "key not allowed to access model gpt-4o" } })),
    /lists "gpt-4o" and refuses it: 401/,
    2,
  ],
  [
    "a first model that does not chat",
    "/v1",
    {},
    each(
      listed("embed-1", "chat-1"),
      status(404, {
        error: { message: "This is not a chat model and thus not supported in the v1/chat/completions endpoint." },
      }),
    ),
    /first model of the listing, "embed-1", does not answer chats.*--model, such as chat-1/,
    2,
  ],
  [
    "a listing that names only `unknown`",
    "/v1",
    {},
    each(listed("unknown"), status(503, { error: { message: "No available workers for model unknown" } })),
    /first model of the listing, "unknown".*Name another one with --model/,
    2,
  ],
  ["a listing without models", "/v1", {}, listed(), /names no model: name the model to judge with --model/, 1],
  [
    "a listing that is not there",
    "/v1",
    {},
    each(status(404, { error: "no such path" }), status(200, completion)),
    /404 "no such path": correct the path.*--model/,
    1,
  ],
  [
    "an HTML page",
    "/v1",
    {},
    page(200),
    /answered with an HTML page \(200 "Welcome to nginx!"\), so \S+\/v1 is not the address of an API/,
    1,
  ],
  [
    "an HTML page, with --model",
    "/v1",
    { model: "m" },
    each(page(200), page(405)),
    /GET \/v1\/models is answered with an HTML page/,
    2,
  ],
  [
    "a 502 of a proxy",
    "/v1",
    {},
    page(502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    /502 "502 Bad Gateway": the proxy is up and the service behind it is not ready/,
    1,
  ],
  [
    "a model that is loading",
    "/v1",
    { model: "m" },
    status(503, { error: { message: "Loading" } }),
    /503 "Loading"/,
    2,
  ],
  [
    "an error for a plain request",
    "/v1",
    {},
    each(listed("m"), status(500, { error: { message: "boom" } })),
    /500 "boom": nothing can be judged/,
    2,
  ],
  [
    "a redirect to another host",
    "/v1",
    {},
    redirect(301, (path) => `https://api.example.com${path}`),
    /redirected \(301\) to https:\/\/api\.example\.com\/v1\/models: write https:\/\/api\.example\.com\/v1 into --base-url/,
    1,
  ],
  [
    "a redirect to a page",
    "/v1",
    {},
    redirect(302, () => "/login?next=%2F"),
    /redirected \(302\) to http:\/\/127\.0\.0\.1:\d+\/login: the suite does not follow redirects/,
    1,
  ],
  [
    "a redirect to the path with a slash",
    "/v1",
    {},
    redirect(308, (path) => `${path}/`),
    /308.*has to answer at this path itself/,
    1,
  ],
  [
    "no money",
    "/v1",
    {},
    each(listed("m"), status(402, { error: { message: "Insufficient credits" } })),
    /no quota left.*402 "Insufficient credits": top up/,
    2,
  ],
  [
    "too many requests",
    "/v1",
    {},
    each(listed("m"), status(429, { error: { message: "Rate limit reached" } }, { "Retry-After": "17" })),
    /no quota left.*wait 17 s/,
    2,
  ],
  [
    "another kind of service",
    "/v1",
    {},
    each(listed("m"), status(200, { ok: true })),
    /200 and a body that is not a chat completion/,
    2,
  ],
];

describe("the preflight ends with one sentence for", () => {
  test.each(faults)("%s", async (_title, path, flags, reply, sentence, requests) => {
    await using stub = await startHttp(reply);
    const said = await sentenceOf(`http://127.0.0.1:${stub.port}${path}`, flags);
    expect(said).toMatch(sentence);
    expect(said).not.toContain("\n");
    expect(stub.requests).toHaveLength(requests);
  });
});
