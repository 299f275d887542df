import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../errors/api-error.ts";
import { escapeLineEnds } from "../escape-line-ends.ts";
import type { Log } from "../observe/log.ts";
import type { RefusalSample } from "../observe/refusal-sample.ts";
import { newRequestId } from "./exchange.ts";
import type { HttpRequest } from "./exchange.ts";
import { markUnreadable } from "./unread-body.ts";

/** What Node refuses before there is a request: in the envelope, like everything else, and in the log. */
export function answerRawErrors(server: Server, log: Log, refusals: RefusalSample): void {
  const answer = (socket: Duplex, error: ApiError): void => {
    const id = newRequestId();
    const leftOut = refusals.next();
    if (leftOut !== undefined) {
      log.info(
        { request_id: id, status: error.status, error_code: error.code, left_out: leftOut || undefined },
        "request",
      );
    }
    socket.end(rawAnswer(id, error));
  };
  server.on("clientError", (thrown: NodeJS.ErrnoException, socket: Duplex) => {
    const isOpen = socket.writable && thrown.code !== "ECONNRESET";
    const current = responseUnderWay(socket);
    // Making an error is slow, because it records a stack trace. On a connection that is closed already, nobody would read it.
    if (!isOpen || current?.headersSent) socket.destroy();
    else if (!current) answer(socket, errorFor(thrown));
    // Its body is broken: the stage that reads it answers, and knows whose request it was.
    else if (!current.req.readableEnded) markUnreadable(current.req, errorFor(thrown));
    // The answer to a request that came whole must not be that to what follows it.
    else socket.destroy();
  });
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    answer(socket, new ApiError("unknown_url", "This is no proxy: CONNECT leads nowhere."));
  });
}

function errorFor(error: NodeJS.ErrnoException): ApiError {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new ApiError("request_timeout", "The request did not arrive in time. Send it at once.");
  }
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new ApiError("invalid_value", "The request head is too large. Send fewer or shorter headers.", {
      status: 431,
    });
  }
  if (error.code === "HPE_INVALID_VERSION" || error.code === "HPE_PAUSED_H2_UPGRADE") {
    return new ApiError("invalid_value", "This version of HTTP is not spoken here. Use HTTP/1.1.", { status: 505 });
  }
  return new ApiError("invalid_value", "The request cannot be read as HTTP.", { cause: error });
}

function rawAnswer(id: string, error: ApiError): string {
  const body = escapeLineEnds(JSON.stringify(error.toBody(id)));
  const headers = {
    ...error.headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": id,
    date: new Date().toUTCString(),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, "", body].join("\r\n");
}

/** Node keeps the response that a connection is busy with where its types do not show it. */
const responseUnderWay = (socket: Duplex): ServerResponse<HttpRequest> | undefined =>
  (socket as Duplex & { readonly _httpMessage?: ServerResponse<HttpRequest> | null })._httpMessage ?? undefined;
