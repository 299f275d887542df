import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../errors/api-error.ts";
import { escapeLineEnds } from "../http/escape-line-ends.ts";
import type { Log } from "../observe/log.ts";
import type { RefusalSample } from "../observe/refusal-sample.ts";
import { newRequestId } from "../http/exchange.ts";
import type { HttpRequest } from "../http/exchange.ts";
import { markUnreadable } from "../http/unread-body.ts";

/**
 * Answers and logs requests that Node's parser refuses before the server sees them. They get the error envelope, like all
 * others.
 */
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
    // A closed connection gets no answer, so no error is created for it: recording its stack trace would be slow.
    if (!isOpen || current?.headersSent) socket.destroy();
    else if (!current) answer(socket, errorFor(thrown));
    // The body of the running request is broken. The step that reads it answers, because it knows the caller.
    else if (!current.req.readableEnded) markUnreadable(current.req, errorFor(thrown));
    // The running request arrived whole and the bytes after it are broken. An error would look like the answer to the
    // former.
    else socket.destroy();
  });
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    answer(socket, new ApiError("unknown_url", "CONNECT is not supported: this server is not a proxy."));
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
    return new ApiError("invalid_value", "This version of HTTP is not supported. Use HTTP/1.1.", { status: 505 });
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

/** Returns the response that a connection is writing. Node keeps it in a property that its types do not declare. */
const responseUnderWay = (socket: Duplex): ServerResponse<HttpRequest> | undefined =>
  (socket as Duplex & { readonly _httpMessage?: ServerResponse<HttpRequest> | null })._httpMessage ?? undefined;
