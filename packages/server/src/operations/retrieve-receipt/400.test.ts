import { expect, test } from "vitest";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

test.each([
  ["a header without a colon", "GET /v1/usage/req_1 HTTP/1.1\r\nHost\r\n\r\n"],
  ["a header with a control character", requestText("GET /v1/usage/req_1", { A: "\u0001" })],
])("HTTP-22 %s is not an HTTP request", async (_title, bytes) => {
  const answer = await exchange(server().origin, bytes);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});
