import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

const server = useServer();

test("a body in chunks of one byte needs little more memory than its bytes", async () => {
  using connection = await RawConnection.open(server().origin);
  const bytes = 500_000;
  const head = requestText("POST /v1/chat/completions", {
    authorization: `Bearer ${testKey}`,
    "content-type": "application/json",
    "transfer-encoding": "chunked",
  });
  const before = process.memoryUsage().rss;
  connection.send(head + "1\r\n \r\n".repeat(bytes));
  connection.send("0\r\n\r\n");
  // Blanks are no JSON.
  expect((await connection.read("POST", "/v1/chat/completions"))?.status).toBe(400);
  // An object for each would be 100 MB.
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
});
