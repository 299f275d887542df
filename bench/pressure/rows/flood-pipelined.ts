import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { closeAll, open, pause, repeatedly, requestText } from "../sockets.ts";

const fields = Object.fromEntries(Array.from({ length: 900 }, (_none, index) => [`h${index}`, "1"]));
/** Each request is answered at once, so the connection's queue of answers does not fill. */
const texts = [requestText(`GET /ready?${"model=a&".repeat(1000)}`), requestText("GET /health", fields)].map((text) =>
  text.repeat(8),
);

export const floodPipelined: Row = {
  name: "flood/pipelined",
  action:
    "without a key: pipelined /ready of 1,000 parameters and /health of 900 fields, as fast as four connections take",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    let connections = 0;
    let bytes = 0;
    await repeatedly(4, signal, async () => {
      const text = texts[(connections += 1) % texts.length] ?? "";
      const socket = (await open(target.origin)).resume();
      while (!signal.aborted && !socket.destroyed) {
        bytes += text.length;
        const isDrained = socket.write(text) || new Promise((resolve) => void socket.once("drain", resolve));
        await Promise.race([isDrained, pause(1000, signal)]);
        await pause(0, signal);
      }
      closeAll([socket]);
    });
    return [figure("megabytes", (bytes / 1e6).toFixed(1)), figure("connections", connections)];
  },
};
