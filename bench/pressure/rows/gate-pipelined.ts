import { toBody } from "../ask.ts";
import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, openMany, pause } from "../sockets.ts";

export const gatePipelinedChats: Row = {
  name: "gate/pipelined-chats",
  action: "16 pipelined chats on each of 200 connections, which are reset after 500 ms, again and again",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const body = JSON.stringify(toBody({ max_tokens: 2 }));
    const requests = (chatHead(token, { "content-length": String(body.length) }) + body).repeat(16);
    let rounds = 0;
    while (!signal.aborted) {
      const sockets = await openMany(target.origin, 200);
      for (const socket of sockets) socket.resume().write(requests);
      await pause(500, signal);
      for (const socket of sockets) socket.resetAndDestroy();
      rounds += 1;
    }
    return [figure("rounds", rounds)];
  },
};
