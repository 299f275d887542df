import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { testKey, until } from "@parley/server/testing";
import { maxMetricsSockets } from "../src/sockets/listener.ts";
import { exchange, RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Clients without a key that open more connections than the server accepts.

const most = 20;
const placesForProbes = 16;
const health = requestText("GET /health");
const models = requestText("GET /v1/models");
const modelsWithKey = requestText("GET /v1/models", { authorization: `Bearer ${testKey}` });

/** Connections that send nothing, or one request that is answered. Disposing closes them. */
class Sockets implements Disposable {
  readonly all: readonly Socket[];

  private constructor(all: readonly Socket[]) {
    this.all = all;
  }

  static async silent(origin: string, count: number, localAddress = "127.0.0.1"): Promise<Sockets> {
    const { port, hostname: host } = new URL(origin);
    const open = async (): Promise<Socket> => {
      const socket = connect({ port: Number(port), host, localAddress }).on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    };
    return new Sockets(await Promise.all(Array.from({ length: count }, open)));
  }

  static async answered(
    origin: string,
    count: number,
    request = modelsWithKey,
    localAddress = "127.0.0.1",
  ): Promise<Sockets> {
    const sockets = await Sockets.silent(origin, count, localAddress);
    for (const socket of sockets.all) socket.write(request);
    await Promise.all(sockets.all.map((socket) => once(socket, "data")));
    return sockets;
  }

  [Symbol.dispose](): void {
    for (const socket of this.all) socket.destroy();
  }
}

/** Sends a request from another address. Returns its status, or undefined if the connection was closed. */
async function statusFrom(localAddress: string, origin: string, request: string): Promise<number | undefined> {
  using connection = await RawConnection.open(origin, localAddress);
  return (await connection.ask(request))?.status;
}

describe("connections on every place", () => {
  const server = useServer({ settings: { maxSockets: most } });
  const open = (): Promise<number> => server().gauge("parley_connections_open");

  test("give way to a caller, the oldest first, where they are silent", async () => {
    using silent = await Sockets.silent(server().origin, most + 5 * placesForProbes);
    await until(open, (connections) => connections >= most);
    expect((await exchange(server().origin, models))?.status).toBe(401);
    expect((await exchange(server().origin, health))?.status).toBe(200);
    expect(await open()).toBeLessThanOrEqual(most + placesForProbes);
    const [oldest] = silent.all;
    expect(oldest?.destroyed).toBe(true);
    expect(silent.all.at(-1)?.destroyed).toBe(false);
  });

  test.each([
    ["/health", health],
    ["the models, without a key", models],
    ["ten times the docs, and read nothing", requestText("GET /docs/search.json").repeat(10)],
  ])("give way to a caller where they have asked for %s", async (_what, request) => {
    await until(open, (connections) => connections === 0);
    using strangers = await Sockets.answered(server().origin, most, request);
    for (const socket of strangers.all) socket.pause();
    expect((await exchange(server().origin, modelsWithKey))?.status).toBe(200);
    expect(await open()).toBeGreaterThanOrEqual(most);
  });

  test("leave a place for /health and /ready, and for nothing else, where each has shown a valid key", async () => {
    await until(open, (connections) => connections === 0);
    using answered = await Sockets.answered(server().origin, most);
    using silent = await Sockets.silent(server().origin, 5 * placesForProbes);
    expect((await exchange(server().origin, health))?.status).toBe(200);
    expect((await exchange(server().origin, requestText("GET /ready")))?.status).toBe(200);
    expect(await exchange(server().origin, models)).toBeUndefined();
    expect(await open()).toBeLessThanOrEqual(most + placesForProbes);
    expect(silent.all).toHaveLength(5 * placesForProbes);
    expect(answered.all.every((socket) => !socket.destroyed)).toBe(true);
  });

  test("leave that place to an address with few connections, even if another one opens many", async () => {
    await until(open, (connections) => connections === 0);
    using answered = await Sockets.answered(server().origin, most);
    using probe = await RawConnection.open(server().origin, "127.0.0.3");
    using silent = await Sockets.silent(server().origin, 5 * placesForProbes, "127.0.0.2");
    await until(
      () => silent.all.filter(({ closed }) => closed).length,
      (closed) => closed >= 4 * placesForProbes,
    );
    expect((await probe.ask(health))?.status).toBe(200);
    // One idle connection was closed for the probe. Connections without a key replace only each other.
    expect(answered.all.filter(({ destroyed }) => destroyed)).toHaveLength(1);
  });

  test("give way to another address where they are idle, though each has shown a valid key", async () => {
    await until(open, (connections) => connections === 0);
    using kept = await Sockets.answered(server().origin, most - 1, modelsWithKey, "127.0.0.2");
    using few = await Sockets.answered(server().origin, 1, modelsWithKey, "127.0.0.3");
    expect((await exchange(server().origin, modelsWithKey))?.status).toBe(200);
    expect(few.all.some(({ destroyed }) => destroyed)).toBe(false);
    const [oldest, ...others] = kept.all;
    await until(() => oldest?.destroyed, Boolean);
    expect(others.some(({ destroyed }) => destroyed)).toBe(false);
  });

  test("make room for a request whose connection lost its place before the request arrived", async () => {
    await until(open, (connections) => connections === 0);
    using kept = await Sockets.answered(server().origin, most, modelsWithKey, "127.0.0.2");
    using newcomer = await RawConnection.open(server().origin, "127.0.0.3");
    using next = await RawConnection.open(server().origin, "127.0.0.4");
    expect((await newcomer.ask(modelsWithKey))?.status).toBe(200);
    expect((await next.ask(modelsWithKey))?.status).toBe(200);
    await until(
      () => kept.all.filter(({ destroyed }) => destroyed).length,
      (closed) => closed === 2,
    );
  });

  test("keep their places while their requests are running", async () => {
    await until(open, (connections) => connections === 0);
    const half = requestText("POST /v1/chat/completions", {
      authorization: `Bearer ${testKey}`,
      "content-length": "1000",
      expect: "100-continue",
    });
    using busy = await Sockets.answered(server().origin, most, half, "127.0.0.2");
    expect(await exchange(server().origin, modelsWithKey)).toBeUndefined();
    expect((await exchange(server().origin, health))?.status).toBe(200);
    expect(busy.all.every(({ destroyed }) => !destroyed)).toBe(true);
  });

  test("are counted, and their refusal is in the log", async () => {
    expect(await server().gauge('parley_connections_refused_total{bound="all"}')).toBeGreaterThanOrEqual(
      4 * placesForProbes + 1,
    );
    const line = server().logLines.find((one) => one.includes("connection refused"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ setting: "PARLEY_MAX_SOCKETS", address: "127.0.0.1" });
  });

  test("give their places back when they close", async () => {
    await until(open, (connections) => connections < most);
    expect((await exchange(server().origin, models))?.status).toBe(401);
  });
});

describe("a connection that found no place and waited", () => {
  const server = useServer({ settings: { maxSockets: 1 } });
  const open = (): Promise<number> => server().gauge("parley_connections_open");

  test("gets one that has become free", async () => {
    const first = await Sockets.answered(server().origin, 1);
    using waiting = await RawConnection.open(server().origin);
    expect((await waiting.ask(health))?.status).toBe(200);
    first[Symbol.dispose]();
    await until(open, (connections) => connections === 1);
    expect((await waiting.ask(models))?.status).toBe(401);
  });
});

describe("connections of one address", () => {
  const server = useServer({ settings: { socketsPerAddress: most } });

  test("take no place of another address", async () => {
    using answered = await Sockets.answered(server().origin, most);
    expect(await statusFrom("127.0.0.1", server().origin, models)).toBeUndefined();
    expect(await statusFrom("127.0.0.2", server().origin, models)).toBe(401);
    expect(answered.all.every((socket) => !socket.destroyed)).toBe(true);
  });

  test("give way to a caller of the same address, where they are silent", async () => {
    using other = await Sockets.silent(server().origin, 1, "127.0.0.2");
    using silent = await Sockets.silent(server().origin, 3 * most);
    expect(await statusFrom("127.0.0.1", server().origin, models)).toBe(401);
    expect(silent.all).toHaveLength(3 * most);
    expect(other.all.every((socket) => !socket.destroyed)).toBe(true);
    expect(await server().gauge('parley_connections_refused_total{bound="address"}')).toBeGreaterThan(0);
  });
});

describe("connections of a trusted proxy", () => {
  const server = useServer({ settings: { socketsPerAddress: most, trustedProxies: ["loopback"] } });

  test("have no bound of their own", async () => {
    using silent = await Sockets.silent(server().origin, 3 * most);
    expect(await statusFrom("127.0.0.1", server().origin, models)).toBe(401);
    expect(await server().gauge('parley_connections_refused_total{bound="address"}')).toBe(0);
    expect(silent.all.every((socket) => !socket.destroyed)).toBe(true);
  });
});

describe("connections", () => {
  const server = useServer();

  test("of the port of the metrics have a bound of their own", async () => {
    const metrics = server().running.metricsUrl ?? "";
    using silent = await Sockets.silent(new URL(metrics).origin, maxMetricsSockets + placesForProbes);
    expect((await fetch(metrics, { headers: { connection: "close" } })).status).toBe(200);
    await until(
      () => silent.all.filter(({ closed }) => closed).length,
      (closed) => closed === 1,
    );
  });
});
