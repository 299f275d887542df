import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { useServer } from "./use-server.ts";

const server = useServer();

/** Linux lowers the number of every listener to this one. */
function mostOfSystem(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
}

// It would run where Linux lets 4,096 connections wait, as it does by itself.
test.skipIf(mostOfSystem() < 4096)(
  "2,000 connections that come at once are accepted without a second try",
  async () => {
    const { port, hostname } = new URL(server().origin);
    const startedMs = performance.now();
    // Nothing is accepted before all of them have asked: this loop and the server share a thread.
    const sockets = Array.from({ length: 2000 }, () => connect(Number(port), hostname));
    const times = await Promise.all(
      sockets.map(async (socket) => {
        await once(socket, "connect");
        return performance.now() - startedMs;
      }),
    );
    for (const socket of sockets) socket.destroy();
    // Linux sends again what was dropped after one second.
    expect(times.filter((ms) => ms > 1000)).toEqual([]);
  },
);
