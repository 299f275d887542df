import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RefusedAttempts } from "../accounts/manage/refused-attempts.ts";
import type { ManagedState } from "../accounts/manage/managed-state.ts";
import { ManageError } from "../accounts/manage/manage-error.ts";
import type { ResolveModel } from "../accounts/manage/wire.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";
import { newId } from "../http/new-id.ts";
import type { Log } from "../observe/log.ts";
import { createAdminApp } from "./admin-app.ts";
import { errorBody } from "./admin-error.ts";

/** Maximum number of connections to the admin port. */
const maxAdminSockets = 64;
const maxHeadBytes = 16_384;
/** Milliseconds for a head and for a whole request to arrive. */
const [headTimeoutMs, requestTimeoutMs] = [10_000, 30_000];

interface AdminOptions {
  readonly config: Pick<Config, "adminHost" | "trustedProxies">;
  readonly port: number;
  readonly state: ManagedState;
  readonly log: Log;
  readonly resolveModel: ResolveModel;
  readonly nowMs: () => number;
  /** Milliseconds after which a client that sends and reads nothing is disconnected, unless the server works for it. */
  readonly idleMs?: number;
}

export interface AdminServer extends AsyncDisposable {
  readonly url: string;
}

/** Opens the port of the admin API. @throws {ConfigError} if the port is in use */
export async function openAdmin(options: AdminOptions): Promise<AdminServer> {
  const { config, port, state, log, resolveModel, nowMs, idleMs = requestTimeoutMs } = options;
  const refused = new RefusedAttempts(state, (error) => log.error({ err: error }, "refused attempts are not recorded"));
  const listener = createAdminApp({ state, refused, resolveModel, nowMs, log, trustedProxies: config.trustedProxies });
  const server = createServer(
    {
      maxHeaderSize: maxHeadBytes,
      headersTimeout: headTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1000,
    },
    listener,
  );
  server.maxConnections = maxAdminSockets;
  server.timeout = idleMs;
  answerBrokenRequests(server);
  const failed = once(server, "error");
  server.listen(port, config.adminHost);
  const outcome: unknown = await Promise.race([once(server, "listening"), failed]);
  const [error] = outcome as [Error?]; // the arguments of one of these events
  if (error) throw new ConfigError([`PARLEY_ADMIN_PORT: ${error.message}`]);
  // A server that listens on TCP has an address of this type.
  const { port: opened } = server.address() as AddressInfo;
  const host = config.adminHost.includes(":") ? `[${config.adminHost}]` : config.adminHost;
  return {
    url: `http://${host}:${opened}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      await refused[Symbol.asyncDispose]();
    },
  };
}

/** Answers requests that Node's parser refuses with the error envelope. */
function answerBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const refusal = isLate
      ? new ManageError("request_timeout", `The request did not arrive within ${requestTimeoutMs / 1000} seconds.`)
      : new ManageError("malformed_request", "The request cannot be read as HTTP.");
    const id = newId("req_", 16);
    const body = JSON.stringify(errorBody(refusal, id));
    const head = [
      `HTTP/1.1 ${isLate ? "408 Request Timeout" : "400 Bad Request"}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      "cache-control: no-store",
      "connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
}
