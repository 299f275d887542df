import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, openMany, pause, requestText } from "../sockets.ts";

export const unreadModels: Row = {
  name: "unread/models",
  action: "200 connections ask for the list of models 16 times each, and read a byte a second",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const requests = requestText("GET /v1/models", { authorization: `Bearer ${token}` }).repeat(16);
    const sockets = await openMany(target.origin, 200);
    for (const socket of sockets) socket.pause().write(requests);
    while (!signal.aborted) {
      for (const socket of sockets) socket.read(1);
      await pause(1000, signal);
    }
    closeAll(sockets);
    return [figure("connections", sockets.length)];
  },
};
