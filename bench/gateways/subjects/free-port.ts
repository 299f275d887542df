import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A port of the loopback interface that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
