import type { IncomingMessage, ServerResponse } from "node:http";
import { catalog, edgeStatuses } from "../../src/contract/contract.ts";
import type { Head, Reply } from "./mutant.ts";
import type { World } from "./world.ts";
import { fault } from "./violation.ts";
import type { Violation } from "./violation.ts";

const exposed = [
  "x-request-id",
  "x-client-request-id",
  ...["limit", "remaining", "reset"].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-ignored-params",
].join(", ");

export const newRequestId = (): string => `req_${crypto.randomUUID().replaceAll("-", "")}`;

/** An error with the data that the catalogue has for its code. */
export function errorReply({ status, code, param: path, message, details, headers = {} }: Violation): Reply {
  const param = path !== null && path.length > 2000 ? path.slice(0, path.lastIndexOf(".", 2000)) : path;
  const type = catalog[code]?.type ?? "server_error";
  const link = { link: `</docs/errors/${code}>; rel="help"` };
  return {
    status,
    headers: { ...link, ...headers },
    body: { error: { message, type, param, code, ...(details && { details }) } },
  };
}

/** The error of an engine that failed, or refused. */
export function failure(code: string): Violation {
  if (code === "invalid_value") return fault(code, "messages", "The template refuses these messages.");
  return code === "timeout"
    ? fault(code, null, "The answer took too long.", 504)
    : fault(code, null, "The engine failed.", 502);
}

export function withMutation(world: World, head: Head, reply: Reply, requestId: string): Reply {
  const client = head.headers["x-client-request-id"];
  const isEchoed = client !== undefined && client.length <= 512 && /^[ -~]+$/.test(client);
  const cors =
    head.headers["origin"] === undefined
      ? {}
      : { "access-control-allow-origin": "*", "access-control-expose-headers": exposed };
  const isError = reply.status >= 400;
  const body = isError && typeof reply.body === "object" ? { ...reply.body, request_id: requestId } : reply.body;
  const type = typeof body === "object" ? { "content-type": "application/json" } : {};
  const headers = {
    ...type,
    ...cors,
    "x-request-id": requestId,
    ...(isEchoed && { "x-client-request-id": client }),
    ...reply.headers,
  };
  const whole = { ...reply, headers, body };
  return world.mutant.reply?.(whole, head) ?? whole;
}

export async function writeReply(
  world: World,
  head: Head,
  request: IncomingMessage,
  response: ServerResponse,
  given: Reply,
): Promise<void> {
  const { status, headers, body } = withMutation(world, head, given, given.headers["x-request-id"] ?? newRequestId());
  const isWhole = request.complete || request.method === "GET" || request.method === "HEAD";
  if (!isWhole) response.setHeader("connection", "close");
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(text)) });
  response.end(head.method === "HEAD" ? undefined : text);
  if (!isWhole) request.resume();
  await new Promise((resolve) => void response.once("close", resolve).once("finish", resolve));
  if (status >= 400 && world.mutant.flags?.has("closes-after-error") === true) request.socket.destroySoon();
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_INVALID_VERSION: 505,
};

/** The raw answer to bytes that are not an HTTP request. */
export function edgeReply(world: World, reason: string): string {
  const status = statuses[reason] ?? 400;
  const code = edgeStatuses[String(status)]?.code ?? "invalid_value";
  const head: Head = { method: "GET", path: "", query: "", headers: {}, raw: [] };
  const reply = withMutation(
    world,
    head,
    errorReply({ status, code, param: null, message: "The bytes are not an HTTP request." }),
    newRequestId(),
  );
  const body = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
  const lines = Object.entries({
    ...reply.headers,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${reply.status} Error\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
