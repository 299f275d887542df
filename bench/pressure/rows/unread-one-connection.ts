import { bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, open, pause, requestText } from "../sockets.ts";

const requests = requestText("GET /docs").repeat(800);
/** One answer that is being written, and 16 that may wait. */
const maxAnswers = 17;

export const unreadOneConnection: Row = {
  name: "unread/one-connection",
  action: "without a key: 800 pipelined GET /docs on a connection, and no answer is read; four connections a second",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const sockets = [];
    while (!signal.aborted) {
      const socket = await open(target.origin);
      socket.pause();
      socket.write(requests);
      sockets.push(socket);
      await pause(250, signal);
    }
    const [first] = sockets;
    let received = "";
    first?.on("data", (bytes: Buffer) => (received += bytes.toString("latin1"))).resume();
    await pause(500, new AbortController().signal);
    const answers = received.split("HTTP/1.1 200").length - 1;
    closeAll(sockets);
    return [
      figure("connections", sockets.length),
      bound(`answers to a connection with 800 requests, at most ${maxAnswers}`, answers <= maxAnswers, answers),
    ];
  },
};
