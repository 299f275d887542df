import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { RawConnection, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({ settings: { bodyTimeoutMs: 400 } });
const patient = useServer({ settings: { bodyTimeoutMs: 10_000 } });
const path = "/v1/chat/completions";
const headers = { Authorization: `Bearer ${testKey}`, "Content-Type": "application/json" };

test.each([
  ["that stops", { "Content-Length": "1000" }, '{"model": '],
  ["of which nothing comes", { "Content-Length": "1000" }, ""],
  ["in chunks that stops", { "Transfer-Encoding": "chunked" }, '5\r\n{"mod\r\n'],
  ["that was waited for", { "Content-Length": "1000", Expect: "100-continue" }, ""],
])("HTTP-20 LIM-02 a body %s", async (_title, more, body) => {
  using connection = await RawConnection.open(server().origin);
  connection.send(requestText(`POST ${path}`, { ...headers, ...more }, body));
  if ("Expect" in more) expect((await connection.read("POST", path))?.status).toBe(100);
  const answer = await connection.read("POST", path);
  expect(answer).toMatchObject({ status: 408, headers: { connection: "close" } });
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({
    error: { type: "timeout_error", code: "request_timeout", param: null },
  });
});

test("HTTP-20 a body that trickles in is not given more time for every byte", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send(requestText(`POST ${path}`, { ...headers, "Content-Length": "1000" }));
  const trickle = setInterval(() => connection.send(" "), 10);
  try {
    expect((await connection.read("POST", path))?.status).toBe(408);
  } finally {
    clearInterval(trickle);
  }
});

test("HTTP-20 a body that comes late, but in time, is read", async () => {
  using connection = await RawConnection.open(patient().origin);
  const body = JSON.stringify({ model: "vendor/model-1", messages: [{ role: "user", content: "a" }] });
  connection.send(requestText(`POST ${path}`, { ...headers, "Content-Length": String(body.length) }, body.slice(0, 9)));
  setTimeout(() => connection.send(body.slice(9)), 20);
  expect((await connection.read("POST", path))?.status).toBe(200);
});
