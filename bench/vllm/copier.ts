import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that forwards every request to its base URL and streams the response back unchanged: `copier.ts URL [PORT]`. */

const { hostname, port } = new URL(process.argv[2] ?? "");
const agent = new Agent({ keepAlive: true });
const server = createServer((near, out) => {
  const { method, headers, url: path } = near;
  const far = request({ hostname, port, path, method, headers, agent }, (answer) => {
    out.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(out);
  });
  near.pipe(far);
  far.on("error", () => out.destroy());
  out.on("close", () => far.destroy()); // aborts the engine's request when the client disconnects
});
server.listen({ host: "127.0.0.1", port: Number(process.argv[3] ?? 0), backlog: 16_384 }, () => {
  // A server that listens on a port has an address.
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
