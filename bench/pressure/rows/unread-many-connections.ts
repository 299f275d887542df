import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, openMany, pause, requestText } from "../sockets.ts";

const requests = requestText("GET /docs").repeat(10);

export const unreadManyConnections: Row = {
  name: "unread/many-connections",
  action: "without a key: 200 connections with 10 GET /docs each, and no answer is read",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const sockets = await openMany(target.origin, 200);
    for (const socket of sockets) socket.pause().write(requests);
    await pause(60_000, signal);
    closeAll(sockets);
    return [figure("connections", sockets.length)];
  },
};
