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
  const body = "1\r\n \r\n".repeat(bytes);
  // The space that V8 reserves for young objects grows with the first requests. It is not counted.
  const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = used();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, used())), 1);
  connection.send(head + body);
  connection.send("0\r\n\r\n");
  // Blanks are not JSON.
  expect((await connection.read("POST", "/v1/chat/completions"))?.status).toBe(400);
  clearInterval(watch);
  // An object for each chunk would need 100 MB.
  expect(most - before).toBeLessThan(60_000_000);
});
