import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** Copies every request to the base URL that it is started with, and the answer back, byte by byte; nothing else. */

const { hostname, port } = new URL(process.argv[2] ?? "");
const agent = new Agent({ keepAlive: true });
const server = createServer((near, out) => {
  const { method, headers, url: path } = near;
  const far = request({ hostname, port, path, method, headers, agent }, (answer) => {
    out.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(out);
  });
  near.pipe(far);
});
server.listen(0, "127.0.0.1", () => {
  // A server that listens on a port has an address.
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
