import { toBody, play } from "../ask.ts";
import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, closeAll, openMany, pause } from "../sockets.ts";

const flood = [
  { role: true as const },
  { repeat: 20_000, steps: [{ text: "x".repeat(500) }] },
  { finish: "stop" as const },
];

export const unreadStreams: Row = {
  name: "unread/streams",
  action: "40 streams of 10 MB each from one key, and none is read",
  engine: "scripted",
  scenarios: { flood },
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const body = JSON.stringify(toBody({ ...play("flood"), stream: true, max_tokens: 16_384 }));
    const sockets = await openMany(target.origin, 40);
    for (const socket of sockets)
      socket.pause().write(chatHead(token, { "content-length": String(body.length) }) + body);
    await pause(60_000, signal);
    closeAll(sockets);
    return [figure("streams", sockets.length)];
  },
};
