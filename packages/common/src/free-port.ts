import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a port of the loopback interface that nobody listens on at the moment. Linux takes the ports of connections and of
 * listeners on port 0 from 32,768 on, so it gives this one, which is below, to nobody else.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) =>
      server.listen(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false)),
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
