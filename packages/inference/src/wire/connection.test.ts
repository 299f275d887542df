import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { gzipSync } from "node:zlib";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { Connection } from "./connection.ts";

const never = new AbortController().signal;
const everyMs = 10;
const event = (number: number): string => `data: ${number}\n\n`;
const numbers = (count: number): string[] => Array.from({ length: count }, (_, number) => String(number));

let server: Server | undefined;
let connection: Connection | undefined;
let stopWatching = (): void => undefined;

afterEach(async () => {
  stopWatching();
  await connection?.close();
  server?.closeAllConnections();
  server?.close();
});

async function connectTo(listener: RequestListener): Promise<Connection> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens to a port
  return (connection = new Connection({ baseUrl: `http://127.0.0.1:${port}`, silenceMs: 10_000 }));
}

/** An engine that sends an event every 10 ms. */
const sendEvents =
  (count: number, end: (response: Parameters<RequestListener>[1]) => void): RequestListener =>
  async (_request, response) => {
    for (let number = 0; number < count && !response.destroyed; number += 1) {
      response.write(event(number));
      await wait(everyMs);
    }
    end(response);
  };

const endWell = (response: Parameters<RequestListener>[1]): void => void response.end("data: [DONE]\n\n");

interface Watched {
  /** The number of times that the socket's byte count had changed. */
  readonly reads: () => number;
  readonly connections: () => number;
}

/** Watches the sockets that undici opens. */
function watchSockets(): Watched {
  const sockets: Socket[] = [];
  const add = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket); // undici's
  subscribe("undici:client:connected", add);
  let reads = 0;
  let bytes = 0;
  const timer = setInterval(() => {
    const now = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    if (now > bytes) reads += 1;
    bytes = now;
  }, 1);
  stopWatching = () => {
    clearInterval(timer);
    unsubscribe("undici:client:connected", add);
  };
  return { reads: () => reads, connections: () => sockets.length };
}

interface Read {
  readonly events: string[];
  failure?: unknown;
}

async function read(from: Connection, isWhole: boolean, signal: AbortSignal = never): Promise<Read> {
  const result: Read = { events: [] };
  try {
    for await (const events of await from.open("/", "{}", signal, { isWhole })) result.events.push(...events);
  } catch (error) {
    result.failure = error;
  }
  return result;
}

test("the socket of an answer that is not streamed is paused between reads", async () => {
  const from = await connectTo(sendEvents(150, endWell));
  const { reads } = watchSockets();
  expect(await read(from, true)).toEqual({ events: [...numbers(150), "[DONE]"] });
  // Without the pauses, each event is read by itself. With them, there are about 45 reads.
  expect(reads()).toBeLessThan(90);
});

test("its connection is no longer paused when the next answer is a stream", async () => {
  const from = await connectTo(sendEvents(40, endWell));
  const { reads, connections } = watchSockets();
  await read(from, true);
  for (let round = 0; round < 10; round += 1) await wait(5); // undici uses it again in a later round of the event loop
  const before = reads();
  expect(await read(from, false)).toEqual({ events: [...numbers(40), "[DONE]"] });
  // A slow machine sometimes reads two events at once.
  expect(reads() - before).toBeGreaterThan(25);
  expect(connections()).toBe(1);
});

test.each([
  ["ends too early", (response: Parameters<RequestListener>[1]) => response.socket?.destroy()],
  ["is reset", (response: Parameters<RequestListener>[1]) => response.socket?.resetAndDestroy()],
])("what came before a connection that %s while it was not read is passed on", async (_, end) => {
  const from = await connectTo(sendEvents(60, end));
  const { events, failure } = await read(from, true);
  expect(events).toEqual(numbers(60));
  expect(failure).toMatchObject({ code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/) });
});

/** Writes text until the connection is closed. */
const writeForever =
  (status: number, text: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "text/html" });
    const write = (): void => void (response.destroyed || response.write(text, () => setTimeout(write, 20)));
    write();
  };

test("a refusal whose body does not end is read for a second, and its status counts", async () => {
  const from = await connectTo(writeForever(503, "x"));
  await expect(from.read("/", never)).rejects.toMatchObject({ status: 503, message: /^HTTP 503: x+$/ });
});

test("an answer that is read whole fails when it does not end", async () => {
  const from = await connectTo(writeForever(200, "x".repeat(2 ** 20)));
  await expect(from.read("/v1/models", never)).rejects.toThrow("the engine wrote more than 16 MiB for /v1/models");
});

test.each([200, 502])("a body in an encoding that was not asked for is not read (%i)", async (status) => {
  const from = await connectTo((_request, response) => {
    response.writeHead(status, { "content-encoding": "gzip" }).end(gzipSync(event(1)));
  });
  const { failure } = await read(from, false);
  expect(failure).toMatchObject({ message: `HTTP ${status}: a body in gzip, which was not asked for` });
});

test("a hang-up closes a connection that is not read", async () => {
  const closed = Promise.withResolvers<void>();
  const from = await connectTo((request, response) => {
    request.socket.on("close", () => closed.resolve());
    sendEvents(1000, endWell)(request, response);
  });
  const caller = new AbortController();
  const reading = read(from, true, caller.signal);
  await wait(500);
  caller.abort(new Error("left"));
  expect((await reading).failure).toEqual(new Error("left"));
  await closed.promise;
});
