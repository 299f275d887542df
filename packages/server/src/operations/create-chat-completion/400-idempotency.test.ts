import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { chatInit, play, testKey, toRefusal } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({ scenarios: { short } });
const wanted = { status: 400, code: "invalid_value", param: "Idempotency-Key" };

test.each([
  ["an empty one", ""],
  ["one of 256 characters", "x".repeat(256)],
  ["one with a letter beyond ASCII", "caf\u00e9"],
  ["one with a tab", "a\tb"],
])("IDEM-07 %s is refused", async (_title, key) => {
  expect(await toRefusal(await server().chat(play("short"), { headers: { "idempotency-key": key } }))).toMatchObject(
    wanted,
  );
});

test.each([
  ["one character", "x"],
  ["255 characters", "~ ".repeat(127) + "!"],
  ["a quoted one", '"8e03978e"'],
  ["a comma", "a, b"],
])("IDEM-07 %s is accepted", async (_title, key) => {
  expect((await server().chat(play("short"), { headers: { "idempotency-key": key } })).status).toBe(200);
});

test("IDEM-07 a header that comes twice is refused, even with one value", async () => {
  const body = chatInit(play("short")).body as string; // a chat request in JSON
  const head = requestText("POST /v1/chat/completions", {
    Authorization: `Bearer ${testKey}`,
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    "Idempotency-Key": "one\r\nIdempotency-Key: one",
  });
  const answer = await exchange(server().origin, `${head}${body}`);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: "Idempotency-Key" } });
});

test("a fault of the body is told first, and the key stays free", async () => {
  const init = { headers: { "idempotency-key": "free" } };
  expect(await server().refuse({ ...play("short"), temperature: 7 }, init)).toMatchObject({ param: "temperature" });
  expect((await server().chat(play("short"), init)).status).toBe(200);
});
