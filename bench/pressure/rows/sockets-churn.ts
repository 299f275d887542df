import { readFileSync } from "node:fs";
import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { open, repeatedly, requestText } from "../sockets.ts";

/** Counts the connections of the whole machine that Linux dropped because the accept queue was full. Their callers retry after 1 s. */
function countDropped(): number {
  const [names = [], values = []] = readFileSync("/proc/net/netstat", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  return Number(values[names.indexOf("ListenDrops")]);
}

export const socketsChurn: Row = {
  name: "sockets/churn",
  action: "connections that are opened, send half a head and are reset, eight at a time",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    let count = 0;
    const droppedBefore = countDropped();
    const half = requestText("GET /v1/models").slice(0, 20);
    await repeatedly(8, signal, async () => {
      const socket = await open(target.origin);
      socket.write(half, () => socket.resetAndDestroy());
      await new Promise((resolve) => void socket.once("close", resolve));
      count += 1;
    });
    return [figure("connections", count), figure("dropped by Linux", countDropped() - droppedBefore)];
  },
};
