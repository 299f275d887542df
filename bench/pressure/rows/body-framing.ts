import type { Socket } from "node:net";
import { toBody } from "../ask.ts";
import { bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, closeAll, open, openMany, pause, repeatedly, requestText } from "../sockets.ts";

/** Writes as fast as the peer reads, until the signal or the end of the connection. @returns the bytes written */
async function pour(socket: Socket, text: string, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  while (!signal.aborted && !socket.destroyed) {
    bytes += text.length;
    if (socket.write(text)) await pause(0, signal);
    else await Promise.race([new Promise((resolve) => void socket.once("drain", resolve)), pause(1000, signal)]);
  }
  return bytes;
}

/** A row that sends endless bodies of these chunks. */
const pouring = (name: string, what: string, chunks: string, hasKey = true): Row => ({
  name,
  action: `bodies in chunks of one byte${what}, as fast as they are taken, on four connections`,
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const token = hasKey ? (await makeKey()).token : "parley_none";
    let bytes = 0;
    await repeatedly(4, signal, async () => {
      const socket = await open(target.origin);
      socket.resume().write(chatHead(token, { "transfer-encoding": "chunked" }));
      bytes += await pour(socket, chunks, signal);
      closeAll([socket]);
    });
    return [figure("megabytes", (bytes / 1e6).toFixed(1))];
  },
});

const tinyChunks = "1\r\na\r\n".repeat(4000);

export const bodyTinyChunks = pouring("body/tiny-chunks", "", tinyChunks);

export const bodyTinyChunksUnread = pouring("body/tiny-chunks-unread", " without a key", tinyChunks, false);

const preflight = { origin: "http://a.test", "access-control-request-method": "POST" };
const chunked = { "transfer-encoding": "chunked" };
const bodyless = [
  requestText("GET /health", chunked),
  requestText("GET /docs", chunked),
  requestText("OPTIONS /v1/chat/completions", { ...preflight, ...chunked }),
];

/** Bodies of requests whose operation takes none. */
export const bodyTinyChunksNeverRead: Row = {
  name: "body/tiny-chunks-never-read",
  action:
    "bodies in chunks of one byte without a key, to /health, /docs and a preflight, which read none, on four connections",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    let bytes = 0;
    let connections = 0;
    await repeatedly(4, signal, async () => {
      const socket = await open(target.origin);
      socket.resume().write(bodyless[connections % bodyless.length] ?? "");
      connections += 1;
      bytes += await pour(socket, tinyChunks, signal);
      closeAll([socket]);
    });
    return [figure("megabytes", (bytes / 1e6).toFixed(1)), figure("connections", connections)];
  },
};

export const bodyChunkExtensions = pouring(
  "body/chunk-extensions",
  " with 15 KB of extensions each",
  `1;${"x".repeat(15_000)}=1\r\n \r\n`.repeat(10),
);

export const bodyTrailers: Row = {
  name: "body/trailers",
  action: "whole bodies with trailers that never end, a field every 500 ms, on 100 connections",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const body = JSON.stringify(toBody({}));
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
    const sockets = await openMany(target.origin, 100);
    for (const socket of sockets) socket.resume().write(chatHead(token, { "transfer-encoding": "chunked" }) + chunk);
    while (!signal.aborted) {
      for (const socket of sockets) if (socket.writable) socket.write("trailer: a\r\n");
      await pause(500, signal);
    }
    closeAll(sockets);
    return [figure("connections", sockets.length)];
  },
};

export const bodyContinue: Row = {
  name: "body/continue",
  action: "300 connections that wait for 100-continue and then send a byte of their body a second",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const sockets = await openMany(target.origin, 300);
    let answers = 0;
    for (const socket of sockets) {
      socket.on("data", (bytes: Buffer) => (answers += bytes.toString("latin1").startsWith("HTTP/1.1 100") ? 0 : 1));
      socket.write(chatHead(token, { expect: "100-continue", "content-length": "1000" }));
    }
    while (!signal.aborted) {
      for (const socket of sockets) if (socket.writable) socket.write(" ");
      await pause(1000, signal);
    }
    closeAll(sockets);
    return [bound("nothing is answered before its time", answers === 0, answers)];
  },
};
