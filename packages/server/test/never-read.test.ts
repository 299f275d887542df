import { expect, test } from "vitest";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

const server = useServer();

const preflight = { origin: "http://a.test", "access-control-request-method": "POST" };

test.each([
  ["GET", "/health", {}],
  ["GET", "/ready", {}],
  ["GET", "/docs", {}],
  ["OPTIONS", "/v1/chat/completions", preflight],
])("the connection of %s %s with a body is closed, and not read on", async (method, path, headers) => {
  using connection = await RawConnection.open(server().origin);
  // A chunk of a body that does not end.
  connection.send(requestText(`${method} ${path}`, { ...headers, "transfer-encoding": "chunked" }, "1\r\na\r\n"));
  await connection.closed;
  expect(connection.rest).toMatch(/^HTTP\/1.1 2\d\d [^]*\r\nconnection: close\r\n/i);
});
