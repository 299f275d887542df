import { expect, test } from "vitest";
import { sentenceOf } from "./run-preflight.ts";
import type { PreflightFlags } from "./run-preflight.ts";
import { completion, each, listed, redirect, soundReply, startHttp, status } from "./stub-service.ts";
import type { Reply } from "./stub-service.ts";

const ids = ["meta/llama-3.1-8b-instruct"];
const sound = soundReply(ids);

const soundServices: readonly (readonly [title: string, path: string, flags: PreflightFlags, reply: Reply])[] = [
  ["a service like vLLM", "/v1", {}, sound],
  ["trailing slashes", "/v1///", {}, sound],
  ["a path of one's own", "/gateway/openai", {}, soundReply(ids, "/gateway/openai")],
  [
    "a service without a listing, with --model",
    "/v1",
    { model: "m" },
    each(status(404, { detail: "Not Found" }), status(200, completion)),
  ],
  [
    "a listing that the key may not read, with --model",
    "/v1",
    { model: "m" },
    each(status(403, { error: "no scope" }), status(200, completion)),
  ],
  [
    "a listing that redirects, with --model",
    "/v1",
    { model: "m" },
    each(
      redirect(308, (path) => `${path}/`),
      status(200, completion),
    ),
  ],
  ["an alias that is not listed", "/v1", { model: "latest" }, each(listed("m"), status(200, completion))],
  ["a model that is really called unknown", "/v1", {}, each(listed("unknown"), status(200, completion))],
  [
    "a parameter that the service does not know",
    "/v1",
    {},
    each(listed("m"), status(400, { error: { message: "max_completion_tokens: extra fields not permitted" } })),
  ],
  [
    "a parameter that the model does not support",
    "/v1",
    {},
    each(listed("m"), status(400, { error: { message: "'temperature' is not supported with this model." } })),
  ],
  [
    "a refusal of the Origin header",
    "/v1",
    {},
    each(listed("m"), status(403, { error: { message: "Origin not allowed" } })),
  ],
  ["a broken completion", "/v1", {}, each(listed("m"), status(200, { object: "chat.completion", choices: [] }))],
  ["a listing as a page of text", "/v1", { model: "m" }, each(status(200, "ok"), status(200, completion))],
];

test.each(soundServices)("the preflight lets the run begin for %s", async (_title, path, flags, reply) => {
  await using stub = await startHttp(reply);
  expect(await sentenceOf(`http://127.0.0.1:${stub.port}${path}`, flags)).toBeUndefined();
  expect(stub.requests).toHaveLength(2);
});
