import { describe, expect, test } from "vitest";
import { until } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Clients that request answers without a key and do not read them.

const most = contract["x-limits"].maxPipelinedRequests.value;
// The largest document that a server offers.
const docs = requestText("GET /docs/search.json");
const health = requestText("GET /health");

/** Opens connections that send `bytes` and read nothing. */
async function openUnread(origin: string, count: number, bytes: string): Promise<RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(origin)));
  for (const connection of connections) {
    connection.socket.pause();
    connection.send(bytes);
  }
  return connections;
}

describe("requests that wait on a connection", () => {
  const server = useServer();

  test("are answered in order, as many as may wait", async () => {
    using connection = await RawConnection.open(server().origin);
    connection.send(health.repeat(most + 1));
    await until(
      () => connection.rest.split("HTTP/1.1 200").length - 1,
      (answers) => answers === most + 1,
    );
    expect(connection.socket.closed).toBe(false);
  });

  test("close the connection when one more comes", async () => {
    using connection = await RawConnection.open(server().origin);
    connection.send(health.repeat(most + 2));
    await connection.closed;
    expect(connection.rest.split("HTTP/1.1").length - 1).toBeLessThanOrEqual(1);
  });
});

describe("a document that is not read", () => {
  const server = useServer();

  test("is in memory once for all connections", async () => {
    const page = Buffer.byteLength(await (await fetch(`${server().origin}/docs/search.json`)).text());
    const before = process.memoryUsage.rss();
    const connections = await openUnread(server().origin, 100, docs.repeat(10));
    // The kernel's buffers take the first answers. Then the log has their lines.
    await until(
      () => server().logLines.filter((line) => line.includes('"path":"/docs/search.json"')).length,
      (taken) => taken > connections.length,
    );
    expect((await fetch(`${server().origin}/health`)).status).toBe(200);
    // A copy for each connection would be 100 times the page.
    expect(process.memoryUsage.rss() - before).toBeLessThan(30 * page);
    for (const connection of connections) connection[Symbol.dispose]();
  });
});

describe("a reader that takes nothing of a document", () => {
  const server = useServer({ settings: { slowReaderMs: 300 } });

  test("is cut off", async () => {
    const [connection] = await openUnread(server().origin, 1, docs.repeat(most));
    using unread = connection as RawConnection; // `openUnread` was asked for one
    await until(
      () => server().logLines,
      (lines) =>
        lines.some((line) => line.includes('"path":"/docs/search.json"') && line.includes("client_closed_request")),
    );
    unread.socket.resume();
    await unread.closed;
    expect(unread.socket.errored).toMatchObject({ code: "ECONNRESET" });
  });
});
