import { expect, test } from "vitest";
import { RawConnection } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({ settings: { headTimeoutMs: 150 } });

test("HTTP-20 LIM-02 a head that never ends is given up", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send("GET /v1/usage/req_1 HTTP/1.1\r\nHost: x\r\n");
  const answer = await connection.read("GET", "/v1/usage/req_1");
  expect(answer).toMatchObject({ status: 408, headers: { connection: "close" } });
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "request_timeout", param: null } });
});
