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

/** Returns the number of connections that a listener has not accepted yet. */
function readBacklog(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const sockets = rows.map((row) => row.trim().split(/ +/));
  const [, , , , queues = ""] = sockets.find(([, local, , state]) => local?.endsWith(address) && state === "0A") ?? [];
  return Number.parseInt(queues.split(":")[1] ?? "", 16);
}

// The test runs where Linux lets 4,096 connections wait, which is its default.
test.skipIf(mostOfSystem() < 4096)(
  "2,000 connections that come at once are accepted without a second try",
  async () => {
    const { port, hostname } = new URL(server().origin);
    const sockets = Array.from({ length: 2000 }, () => connect(Number(port), hostname));
    // `connect` begins in the next ticks. The server accepts no connection until they are over, because it uses this thread.
    const waiting = await new Promise<number>((resolve) => process.nextTick(() => resolve(readBacklog(Number(port)))));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.destroy();
    expect(waiting).toBe(2000);
  },
);
