import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { chatHead, closeAll, open, pause, repeatedly } from "../sockets.ts";

const chunks = "1\r\na\r\n".repeat(4000);

export const bodyTinyChunks: Row = {
  name: "body/tiny-chunks",
  action: "bodies in chunks of one byte, as fast as they are taken, on four connections",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    let bytes = 0;
    await repeatedly(4, signal, async () => {
      const socket = await open(target.origin);
      socket.resume().write(chatHead(token, { "transfer-encoding": "chunked" }));
      while (!signal.aborted && !socket.destroyed) {
        bytes += 4000;
        if (socket.write(chunks)) await pause(0, signal);
        else await Promise.race([new Promise((resolve) => void socket.once("drain", resolve)), pause(1000, signal)]);
      }
      closeAll([socket]);
    });
    return [figure("megabytes of bodies", (bytes / 1e6).toFixed(1))];
  },
};
