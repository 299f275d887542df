import { play, toBody } from "../ask.ts";
import { aim, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, closeAll, openMany, pause } from "../sockets.ts";

const endless = [{ role: true as const }, { text: "a" }, { stall: true as const }];

export const socketsHalfClosed: Row = {
  name: "sockets/half-closed",
  action: "200 connections that close their side: in the middle of a body, or after a chat that never ends",
  engine: "scripted",
  scenarios: { endless },
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const body = JSON.stringify(toBody({ ...play("endless"), stream: true }));
    const whole = chatHead(token, { "content-length": String(body.length) }) + body;
    const sockets = await openMany(target.origin, 200);
    for (const [index, socket] of sockets.entries()) {
      socket.allowHalfOpen = true;
      socket.resume().end(index % 2 === 0 ? whole : whole.slice(0, -10));
    }
    await pause(60_000, signal);
    const left = sockets.filter(({ closed }, index) => index % 2 === 1 && !closed).length;
    closeAll(sockets);
    return [
      figure("connections", sockets.length),
      aim("those with half a body are closed", left === 0, `${left} are open`),
    ];
  },
};
