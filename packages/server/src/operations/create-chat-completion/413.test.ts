import { expect, test } from "vitest";
import { modelId, testKey } from "@parley/server/testing";
import { RawConnection, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const path = "/v1/chat/completions";
const most = 4 * 1024 * 1024;
const headers = { Authorization: `Bearer ${testKey}`, "Content-Type": "application/json" };

/** Returns a valid request of exactly this number of bytes. */
function bodyOf(bytes: number): string {
  const body = { model: modelId, messages: [{ role: "user", content: "a" }], mood: "" };
  return JSON.stringify({ ...body, mood: "x".repeat(bytes - JSON.stringify(body).length) });
}

test("HTTP-08 a body of 4 MiB is not refused for its size", async () => {
  expect((await server().chat({}, { body: bodyOf(most) })).status).toBe(200);
});

test("HTTP-07 LIM-02 a byte more is", async () => {
  expect(await server().refuse({}, { body: bodyOf(most + 1) })).toMatchObject({
    status: 413,
    code: "request_too_large",
    param: null,
  });
});

test("HTTP-07 a declared size is judged before anything comes, and nothing is asked for", async () => {
  using connection = await RawConnection.open(server().origin);
  const more = { "Content-Length": String(most + 1), Expect: "100-continue" };
  connection.send(requestText(`POST ${path}`, { ...headers, ...more }));
  expect((await connection.read("POST", path))?.status).toBe(413);
});

test("HTTP-07 a body of unknown size is judged when it has grown too large", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send(requestText(`POST ${path}`, { ...headers, "Transfer-Encoding": "chunked" }));
  for (let megabyte = 0; megabyte < 5; megabyte += 1) connection.send(`100000\r\n${" ".repeat(0x10_00_00)}\r\n`);
  expect((await connection.read("POST", path))?.status).toBe(413);
});

test("HTTP-07 the answer reaches a caller that is still sending", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send(requestText(`POST ${path}`, { ...headers, "Content-Length": String(20 * 1024 * 1024) }));
  // Nothing is read before everything is sent: a connection that is reset has lost the answer by then.
  connection.socket.pause();
  for (let megabyte = 0; megabyte < 20; megabyte += 1) {
    await new Promise((resolve) => connection.socket.write(" ".repeat(1024 * 1024), resolve));
  }
  connection.socket.resume();
  expect((await connection.read("POST", path))?.status).toBe(413);
  await connection.closed;
});

test("HTTP-07 a client that sends without end is disconnected", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send(requestText(`POST ${path}`, { ...headers, "Transfer-Encoding": "chunked" }));
  const chunk = `100000\r\n${" ".repeat(0x10_00_00)}\r\n`;
  const sending = setInterval(() => connection.send(chunk), 5);
  await connection.closed;
  clearInterval(sending);
  expect((await connection.read("POST", path))?.status).toBe(413);
}, 10_000);
