import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { useServer } from "./use-server.ts";

const server = useServer();

/** Returns the upper bound that Linux sets for the backlog of a listener. */
function mostOfSystem(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
}

// The test runs where Linux lets 4,096 connections wait, which is its default.
test.skipIf(mostOfSystem() < 4096)(
  "2,000 connections that come at once are accepted without a second try",
  async () => {
    const { port, hostname } = new URL(server().origin);
    const startedMs = performance.now();
    // The server accepts none of them before this loop ends, because both use one thread.
    const sockets = Array.from({ length: 2000 }, () => connect(Number(port), hostname));
    const times = await Promise.all(
      sockets.map(async (socket) => {
        await once(socket, "connect");
        return performance.now() - startedMs;
      }),
    );
    for (const socket of sockets) socket.destroy();
    // Linux repeats a dropped request for a connection after one second.
    expect(times.filter((ms) => ms > 1000)).toEqual([]);
  },
);
