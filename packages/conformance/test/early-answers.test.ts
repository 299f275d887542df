import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { Answer } from "../src/wire/answer.ts";
import { Connection } from "../src/wire/connection.ts";

// Raw sockets: what a server and a relay do to a connection decides whether an answer that comes early can be read.

const body = '{"error":{"message":"The body is too large."}}';
const answer = `HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const closing: Disposable[] = [];
afterEach(() => {
  for (const one of closing.splice(0)) one[Symbol.dispose]();
});

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closing.push({
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port; // it listens on a port, not on a pipe
}

/** Answers when this number of bytes has arrived, reads no more, and ends the connection. */
const answersAfter =
  (bytes: number, end: (socket: Socket) => void) =>
  (socket: Socket): void => {
    let size = 0;
    socket.on("data", (chunk) => {
      size += chunk.length;
      if (size < bytes) return;
      socket.removeAllListeners("data").pause();
      socket.write(answer, () => end(socket));
    });
  };

/** Passes bytes on both ways, and hands a broken connection to its server on to its client as a reset. */
const relayTo =
  (port: number) =>
  (client: Socket): void => {
    const upstream = connect(port, "127.0.0.1");
    upstream.on("error", () => undefined);
    client.pipe(upstream);
    upstream.on("data", (bytes) => client.write(bytes));
    upstream.on("close", (hasFailed) => (hasFailed ? client.resetAndDestroy() : client.end()));
    client.on("close", () => upstream.destroy());
  };

async function send(port: number): Promise<Answer> {
  using connection = new Connection({
    origin: new URL(`http://127.0.0.1:${port}`),
    secrets: new Map(),
    deadlineMs: 10_000,
    maxAnswerBytes: 1_000_000,
    now: () => performance.now(),
    signal: new AbortController().signal,
  });
  const request = { method: "POST", target: "/v1/chat/completions", headers: [], body: " ".repeat(4_194_305) };
  return new Answer(await connection.exchange("a large body", request));
}

const ends = {
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
} as const;

describe.each(Object.entries(ends))("the answer of a server that %s the connection early", (_name, end) => {
  test.each([
    ["by the head of the request", 1],
    ["after a mebibyte of its body", 1_048_576],
  ])(
    "is read every time, direct and through a relay, if it comes %s",
    async (_title, bytes) => {
      const port = await listen(answersAfter(bytes, end));
      const relay = await listen(relayTo(port));
      for (let turn = 0; turn < 3; turn += 1)
        for (const address of [port, relay]) {
          const seen = await send(address);
          expect([seen.status, seen.isWhole, seen.text]).toEqual([413, true, body]);
        }
    },
    60_000,
  );
});

test("a connection that its server announced to close is opened again for the next request", async () => {
  let opened = 0;
  const port = await listen((socket) => {
    opened += 1;
    socket.once("data", () => socket.end(answer));
  });
  using connection = new Connection({
    origin: new URL(`http://127.0.0.1:${port}`),
    secrets: new Map(),
    deadlineMs: 5000,
    maxAnswerBytes: 1_000_000,
    now: () => performance.now(),
    signal: new AbortController().signal,
  });
  for (const name of ["one", "two"]) {
    const seen = new Answer(await connection.exchange(name, { method: "GET", target: "/", headers: [] }));
    expect([seen.status, seen.announcesClose]).toEqual([413, true]);
  }
  expect(opened).toBe(2);
});
