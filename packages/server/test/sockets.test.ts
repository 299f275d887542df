import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { until } from "@parley/server/testing";
import { exchange, RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Strangers who open more connections than there are places.

const most = 20;
const placesForProbes = 16;
const health = requestText("GET /health");
const models = requestText("GET /v1/models");

/** Connections that send nothing, closed with the block. */
class SilentSockets implements Disposable {
  readonly all: readonly Socket[];

  private constructor(all: readonly Socket[]) {
    this.all = all;
  }

  static async open(origin: string, count: number, localAddress = "127.0.0.1"): Promise<SilentSockets> {
    const { port, hostname: host } = new URL(origin);
    const open = async (): Promise<Socket> => {
      const socket = connect({ port: Number(port), host, localAddress }).on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    };
    return new SilentSockets(await Promise.all(Array.from({ length: count }, open)));
  }

  [Symbol.dispose](): void {
    for (const socket of this.all) socket.destroy();
  }
}

/** The status of a request on a connection from another address; undefined: the connection was closed. */
async function statusFrom(localAddress: string, origin: string, request: string): Promise<number | undefined> {
  using connection = await RawConnection.open(origin, localAddress);
  return (await connection.ask(request))?.status;
}

describe("silent connections on every place", () => {
  const server = useServer({ settings: { maxSockets: most } });
  const open = (): Promise<number> => server().gauge("parley_connections_open");

  test("leave a place for /health and /ready, and for nothing else", async () => {
    using silent = await SilentSockets.open(server().origin, most + 5 * placesForProbes);
    await until(open, (connections) => connections >= most + placesForProbes);
    expect((await exchange(server().origin, health))?.status).toBe(200);
    expect((await exchange(server().origin, requestText("GET /ready")))?.status).toBe(200);
    expect(await exchange(server().origin, models)).toBeUndefined();
    expect(await open()).toBeLessThanOrEqual(most + placesForProbes);
    expect(silent.all.filter((socket) => !socket.destroyed).length).toBeGreaterThanOrEqual(most);
  });

  test("are counted, and their refusal is in the log", async () => {
    expect(await server().gauge('parley_connections_refused{bound="all"}')).toBeGreaterThanOrEqual(
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
    const silent = await SilentSockets.open(server().origin, 1);
    await until(open, (connections) => connections === 1);
    using waiting = await RawConnection.open(server().origin);
    expect((await waiting.ask(health))?.status).toBe(200);
    silent[Symbol.dispose]();
    await until(open, (connections) => connections === 1);
    expect((await waiting.ask(models))?.status).toBe(401);
  });
});

describe("silent connections of one address", () => {
  const server = useServer({ settings: { socketsPerAddress: most } });
  const open = (): Promise<number> => server().gauge("parley_connections_open");

  test("take no place of another address", async () => {
    using silent = await SilentSockets.open(server().origin, 3 * most);
    await until(open, (connections) => connections >= most + placesForProbes);
    expect(await statusFrom("127.0.0.1", server().origin, models)).toBeUndefined();
    expect(await statusFrom("127.0.0.2", server().origin, models)).toBe(401);
    expect(silent.all).toHaveLength(3 * most);
    expect(await server().gauge('parley_connections_refused{bound="address"}')).toBeGreaterThan(0);
  });
});

describe("connections of a trusted proxy", () => {
  const server = useServer({ settings: { socketsPerAddress: most, trustedProxies: ["loopback"] } });

  test("have no bound of their own", async () => {
    using silent = await SilentSockets.open(server().origin, 3 * most);
    expect(await statusFrom("127.0.0.1", server().origin, models)).toBe(401);
    expect(await server().gauge('parley_connections_refused{bound="address"}')).toBe(0);
    expect(silent.all.every((socket) => !socket.destroyed)).toBe(true);
  });
});
