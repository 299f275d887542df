import { figure } from "../row.ts";
import type { Row } from "../row.ts";
import { open, repeatedly, requestText } from "../sockets.ts";

export const socketsChurn: Row = {
  name: "sockets/churn",
  action: "connections that are opened, send half a head and are reset, eight at a time",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    let count = 0;
    const half = requestText("GET /v1/models").slice(0, 20);
    await repeatedly(8, signal, async () => {
      const socket = await open(target.origin);
      socket.write(half, () => socket.resetAndDestroy());
      await new Promise((resolve) => void socket.once("close", resolve));
      count += 1;
    });
    return [figure("connections", count)];
  },
};
