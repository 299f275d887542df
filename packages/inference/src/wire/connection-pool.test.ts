import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, assert, beforeEach, expect, test } from "vitest";
import { until } from "../../testing/until.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { AnswerHandler } from "./connection-pool.ts";
import { IncomingAnswer } from "./incoming-answer.ts";
import { PausableClient } from "./pausable-client.ts";

let server: Server;
let origin: string;
/** Handles a request. Answers it by default. */
let handle: RequestListener;
/** Ports that requests came from. */
let ports: number[];
let pool: ConnectionPool;

beforeEach(async () => {
  ports = [];
  handle = (_request, response) => void response.end("text");
  server = createServer((request, response) => {
    ports.push(request.socket.remotePort ?? 0);
    handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens to a port
  pool = new ConnectionPool(() => new PausableClient(origin, {}, { headersTimeout: 10_000, bodyTimeout: 10_000 }));
});

afterEach(async () => {
  await pool.destroy();
  server.closeAllConnections();
  server.close();
});

async function ask(signal: AbortSignal = new AbortController().signal): Promise<string> {
  const answer = new IncomingAnswer(signal, false, { count: 0 });
  pool.dispatch({ origin, path: "/", method: "POST", body: "{}" }, answer);
  await answer.status;
  let text = "";
  for (let next = await answer.next(); !next.done; next = await answer.next()) text += next.value.toString();
  return text;
}

/** undici uses a connection again in a later round of the event loop. */
const untilFree = async (): Promise<void> => wait(20);

test("undici keeps the head of an answer without the pool of small buffers", async () => {
  const { promise: kept, resolve, reject } = Promise.withResolvers<unknown>();
  const handler: AnswerHandler = {
    onConnection: () => undefined,
    onRequestStart: () => undefined,
    onResponseStart: ({ rawHeaders }) => resolve(Array.isArray(rawHeaders) ? rawHeaders[0] : undefined),
    onResponseData: () => undefined,
    onResponseEnd: () => undefined,
    onResponseError: (_controller, error) => reject(error),
  };
  pool.dispatch({ origin, path: "/", method: "GET" }, handler);
  const name = await kept;
  assert(Buffer.isBuffer(name));
  expect(name.buffer.byteLength).toBeLessThan(1024);
});

test("concurrent requests use separate connections, and a later one takes the connection that became free last", async () => {
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(["text", "text", "text"]);
  expect(new Set(ports).size).toBe(3);
  await untilFree();
  for (let count = 0; count < 5; count += 1) {
    await ask();
    await untilFree();
  }
  expect(new Set(ports).size).toBe(3);
  expect(new Set(ports.slice(3)).size).toBe(1);
  expect(pool.size).toBe(3);
});

test("connections that the other side closes leave the pool, and the next request opens another", async () => {
  await Promise.all([ask(), ask()]);
  server.closeAllConnections();
  await until("the pool is empty", () => pool.size === 0);
  expect(await ask()).toBe("text");
  expect(new Set(ports).size).toBe(3);
});

test("a connection that breaks fails its request and leaves the pool", async () => {
  handle = (request) => void request.socket.destroy();
  await expect(ask()).rejects.toThrow("other side closed");
  await until("the pool is empty", () => pool.size === 0);
});

test("a connection that cannot be opened fails its request and leaves the pool", async () => {
  server.close();
  await once(server, "close");
  await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await until("the pool is empty", () => pool.size === 0);
});

test("aborting a request closes its connection, also before it is open", async () => {
  const gone = new AbortController();
  const early = ask(gone.signal);
  gone.abort(new Error("left"));
  await expect(early).rejects.toThrow("left");
  handle = () => undefined;
  const late = new AbortController();
  const waiting = ask(late.signal);
  await until("the request has arrived", () => ports.length === 1);
  late.abort(new Error("left, too"));
  await expect(waiting).rejects.toThrow("left, too");
  handle = (_request, response) => void response.end("text");
  expect(await Promise.all([ask(), ask()])).toEqual(["text", "text"]);
  await untilFree();
  expect(pool.size).toBe(2);
});

test("when it is destroyed, running requests fail, and so do later ones", async () => {
  handle = () => undefined;
  const [running] = await Promise.allSettled([
    ask(),
    until("the request has arrived", () => ports.length === 1).then(() => pool.destroy()),
  ]);
  expect(running).toMatchObject({ status: "rejected", reason: { code: "UND_ERR_DESTROYED" } });
  await expect(ask()).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
});
