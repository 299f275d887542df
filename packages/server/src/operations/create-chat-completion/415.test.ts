import { describe, expect, test } from "vitest";
import { modelId, testKey } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const path = "/v1/chat/completions";
const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "a" }] });
const send = (headers: Readonly<Record<string, string>>) => {
  const all = { Authorization: `Bearer ${testKey}`, "Content-Length": String(body.length), ...headers };
  return exchange(server().origin, requestText(`POST ${path}`, all, body));
};

describe("LIM-02 a body that is not declared as JSON", () => {
  test.each([
    ["HTTP-10 at all", {}],
    ["HTTP-10 but empty", { "Content-Type": "" }],
    ["HTTP-09 but as text", { "Content-Type": "text/plain" }],
    ["HTTP-09 but as a form", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["HTTP-09 but as parts", { "Content-Type": "multipart/form-data; boundary=a" }],
    ["HTTP-09 but as a kind of JSON", { "Content-Type": "application/vnd.api+json" }],
    ["HTTP-09 but as JSON of a longer name", { "Content-Type": "application/jsonx" }],
    ["HTTP-09 but as two things", { "Content-Type": "application/json, text/plain" }],
    ["HTTP-11 in UTF-8, but in Latin 1", { "Content-Type": "application/json; charset=iso-8859-1" }],
    ["HTTP-11 in UTF-8, but in UTF-16", { "Content-Type": "application/json; charset=utf-16" }],
    ["HTTP-11 plainly, but compressed", { "Content-Type": "application/json", "Content-Encoding": "gzip" }],
    ["HTTP-11 plainly, but in two codings", { "Content-Type": "application/json", "Content-Encoding": "identity, br" }],
  ])("%s", async (_title, headers) => {
    const answer = await send(headers);
    expect(answer?.status).toBe(415);
    expect(answer?.body).toContain('"unsupported_media_type"');
  });
});

test.each([
  [{}, "Content-Type must be application/json in UTF-8, and is absent."],
  [{ "Content-Type": "text/plain" }, "Content-Type must be application/json in UTF-8, and is text/plain."],
  [
    { "Content-Type": "application/json", "Content-Encoding": "gzip" },
    "Send the body uncompressed, without the header Content-Encoding.",
  ],
])("the message to %j names the header at fault", async (headers, message) => {
  expect((await send(headers))?.body).toContain(JSON.stringify(message));
});

describe("HTTP-12 a body that is declared as JSON", () => {
  test.each([
    ["application/json"],
    ["APPLICATION/JSON"],
    ["application/json; charset=UTF-8"],
    ["application/json;charset=utf-8"],
    ['application/json; charset="utf-8"'],
    ["Application/Json ; Charset=Utf-8"],
    ["application/json;"],
  ])("%s", async (type) => {
    expect((await send({ "Content-Type": type }))?.status).toBe(200);
  });

  test("HTTP-34 with the coding `identity`", async () => {
    expect((await send({ "Content-Type": "application/json", "Content-Encoding": "identity" }))?.status).toBe(200);
  });
});

test("HTTP-12 many spellings take no memory of the validator's", async () => {
  const types = Array.from({ length: 200 }, (_, index) => `application/json${" ".repeat(index)}`);
  for (const type of types) expect((await send({ "Content-Type": type }))?.status).toBe(200);
});
